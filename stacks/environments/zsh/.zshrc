# `./invoke shell` starts zsh with this folder as ZDOTDIR. The person's own files may activate conda,
# so they are read first.
if [[ -n $THEANO_STACKS_ZDOTDIR ]]; then ZDOTDIR=$THEANO_STACKS_ZDOTDIR; else unset ZDOTDIR; fi
[[ -f ${ZDOTDIR:-$HOME}/.zshenv ]] && source "${ZDOTDIR:-$HOME}/.zshenv"
[[ -f ${ZDOTDIR:-$HOME}/.zshrc ]] && source "${ZDOTDIR:-$HOME}/.zshrc"
eval "$THEANO_STACKS_START"
unset THEANO_STACKS_ZDOTDIR THEANO_STACKS_START
