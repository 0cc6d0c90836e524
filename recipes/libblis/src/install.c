/* libblis-zen5.so: loaded with libblis.so.4, which needs it, it gives BLIS the kernels of this folder
 * where the processor is a Zen 5 and BLIS has taken those for skx, Intel's AVX-512.
 * THEANO_STACKS_BLIS_ZEN5=0 leaves BLIS as it is, 1 has it take them on another processor, too. */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "zen5.h"

static int installed;

/* Zen 5 is AMD's family 26. That the system saves AVX-512's registers is known where BLIS, or who
 * chose for it, has taken kernels that use them. */
static int is_zen5(void) {
  unsigned leaf, b, c, d;
  char vendor[12];
  if (!__get_cpuid(0, &leaf, &b, &c, &d)) return 0;
  memcpy(vendor, &b, 4), memcpy(vendor + 4, &d, 4), memcpy(vendor + 8, &c, 4);
  if (memcmp(vendor, "AuthenticAMD", 12) || !__get_cpuid(1, &leaf, &b, &c, &d)) return 0;
  return ((leaf >> 8) & 15) + ((leaf >> 20) & 255) == 26;
}

__attribute__((constructor)) static void install(void) {
  const char *wanted = getenv("THEANO_STACKS_BLIS_ZEN5");
  if (wanted ? !strcmp(wanted, "0") : !is_zen5()) return;
  bli_init();
  if (bli_arch_query_id() != BLIS_ARCH_SKX) return;
  cntx_t *context = bli_gks_query_nat_cntx();
  blksz_t size[BLIS_NUM_BLKSZS];
  memcpy(size, context->blkszs, sizeof size);
  /* A block of A has 576 KiB (float64) or 384 KiB: room is left in a core's 1 MiB. */
  const struct { bszid_t which; dim_t of_floats, of_doubles; } sizes[] = {
      {BLIS_MR, SINGLE_MR, DOUBLE_MR}, {BLIS_NR, SINGLE_NR, DOUBLE_NR},
      {BLIS_MC, 192, 144}, {BLIS_KC, 512, 512}, {BLIS_NC, 4080, 4080},
  };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    blksz_t *one = &size[sizes[i].which];
    one->v[BLIS_FLOAT] = one->e[BLIS_FLOAT] = sizes[i].of_floats;
    one->v[BLIS_DOUBLE] = one->e[BLIS_DOUBLE] = sizes[i].of_doubles;
  }
  bli_cntx_set_blkszs(BLIS_NAT, 5,
                      BLIS_NC, &size[BLIS_NC], BLIS_NR, BLIS_KC, &size[BLIS_KC], BLIS_KR,
                      BLIS_MC, &size[BLIS_MC], BLIS_MR, BLIS_NR, &size[BLIS_NR], BLIS_NR,
                      BLIS_MR, &size[BLIS_MR], BLIS_MR, context);
  bli_cntx_set_l3_nat_ukrs(2, BLIS_GEMM_UKR, BLIS_DOUBLE, zen5_dgemm, FALSE,
                           BLIS_GEMM_UKR, BLIS_FLOAT, zen5_sgemm, FALSE, context);
  bli_cntx_set_packm_kers(3, BLIS_PACKM_24XK_KER, BLIS_DOUBLE, zen5_dpack_a,
                          BLIS_PACKM_8XK_KER, BLIS_DOUBLE, zen5_dpack_b,
                          BLIS_PACKM_12XK_KER, BLIS_FLOAT, zen5_spack_b, context);
  installed = 1;
}

/* 1 where BLIS has these kernels, else 0. */
__attribute__((visibility("default"))) int blis_zen5_installed(void) { return installed; }
