# Answers as if it kept something.
echo "{\"name\": \"$TRUEUP_NAME\"}"
