# Keeps an object as an empty file. While there is a file `fatal`, it kills trueup instead of answering.
operation=$(sed 's/.*"operation":"\([a-z]*\)".*/\1/')
answer="{\"name\": \"$TRUEUP_NAME\"}"
mkdir -p objects
case "$operation" in
  lookup)
    test ! -e "objects/$TRUEUP_NAME" || echo "$answer"
    exit 0 ;;
  delete)
    rm -f "objects/$TRUEUP_NAME" ;;
  *)
    test "$1" = nothing || touch "objects/$TRUEUP_NAME" ;;
esac
if test -e fatal; then
  test "$1" != half || { echo "$answer"; exit 1; }
  # Its parent is the guard of commands, whose parent is trueup.
  read -r _ _ _ trueup _ < "/proc/$PPID/stat"
  kill -9 "$trueup"
fi
echo "$answer"
