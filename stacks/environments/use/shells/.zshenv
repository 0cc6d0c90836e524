# `./invoke shell` starts zsh with this folder as ZDOTDIR. zsh then reads the person's own files, which
# may activate conda, and enters the environment before the first prompt.
if [[ -n $THEANO_STACKS_ZDOTDIR ]]; then ZDOTDIR=$THEANO_STACKS_ZDOTDIR; else unset ZDOTDIR; fi
unset THEANO_STACKS_ZDOTDIR
[[ -f ${ZDOTDIR:-$HOME}/.zshenv ]] && source "${ZDOTDIR:-$HOME}/.zshenv"
theano_stacks_start() {
    add-zsh-hook -d precmd theano_stacks_start
    local start=$THEANO_STACKS_START
    unset THEANO_STACKS_START
    eval "$start"
}
autoload -Uz add-zsh-hook && add-zsh-hook precmd theano_stacks_start
