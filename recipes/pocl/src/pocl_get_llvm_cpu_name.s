# char *pocl_get_llvm_cpu_name(void): the processor's name, as PoCL gives it to LLVM; to be freed.
#
# PoCL takes what LLVM calls the processor. LLVM 14 calls the ones that are newer than itself
# "generic" (AMD's Zen 5 is one), and its own C compiler then refuses that name for x86. Here those
# are "haswell" where they have what that stands for (AVX, FMA and BMI1, AVX2, and a system that
# saves AVX's registers), else "x86-64".
#
# It takes the place of PoCL's own function in the library, and no more bytes than that.
    .text
    .globl pocl_get_llvm_cpu_name
pocl_get_llvm_cpu_name:
    push %rbx
    call llvm_host_cpu_name         # the text in rax, its length in rdx
    mov %rax, %rdi
    cmp $7, %edx                    # no other name of seven letters begins so
    jne 1f
    cmpb $'g', (%rdi)
    jne 1f
    lea baseline(%rip), %rdi
    push $1
    pop %rax
    cpuid
    not %ecx
    test $(1 << 12 | 1 << 27 | 1 << 28), %ecx   # FMA, OSXSAVE, AVX
    jnz 1f
    push $7
    pop %rax
    xor %ecx, %ecx
    cpuid
    not %ebx
    test $(1 << 3 | 1 << 5), %bl    # BMI1, AVX2
    jnz 1f
    xor %ecx, %ecx
    xgetbv
    and $6, %al
    cmp $6, %al
    jne 1f
    lea haswell(%rip), %rdi
1:  pop %rbx
    jmp strdup
baseline:
    .asciz "x86-64"
haswell:
    .asciz "haswell"
