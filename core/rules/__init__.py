"""The rules that the game's files follow: names, severities, words, meanings, remedies."""
