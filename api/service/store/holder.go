package store

import (
	"fmt"
	"os"
	"strings"
	"unicode"
)

// maxHolder bounds what is read from the note and shown to a person.
const maxHolder = 200

// The note beside the file only names the holder. The lock on the file itself
// decides: the note of a process that died is never read, because then the
// lock is free.
func holderFile(path string) string { return path + ".holder" }

func writeHolder(path, holder string) {
	if holder == "" {
		holder = "process"
	}
	note := fmt.Sprintf("%s (process id %d)", holder, os.Getpid())
	// A note that cannot be written costs a better message, nothing else.
	_ = os.WriteFile(holderFile(path), []byte(note), 0o600)
}

func removeHolder(path string) { _ = os.Remove(holderFile(path)) }

func readHolder(path string) string {
	note, err := os.ReadFile(holderFile(path))
	if err != nil {
		return "a process that left no name"
	}
	return cleanHolder(note)
}

// cleanHolder keeps printable characters only: the note ends up on a terminal.
func cleanHolder(note []byte) string {
	text := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(note), ""))
	if runes := []rune(text); len(runes) > maxHolder {
		text = string(runes[:maxHolder])
	}
	if text = strings.TrimSpace(text); text == "" {
		return "a process that left no name"
	}
	return text
}
