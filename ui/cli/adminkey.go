package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/term"

	"coffer/api/secret"
	"coffer/wallet/vault"
)

// maxLine bounds what AskLine reads, in bytes.
const maxLine = 256

// AskLine asks a question on a terminal that shows the input, and returns the line. It reads no byte beyond it, so
// that another question may follow. Where a command holds the terminal (Prompt.Hold), AskLine shows the answer and
// discards what follows it at once.
func AskLine(ctx context.Context, terminal io.Reader, out io.Writer, question string) (string, error) {
	if s := sessionOf(ctx, terminal); s != nil {
		if err := s.begin(modeShown, question); err != nil {
			return "", err
		}
		defer s.finish(ctx)
		return readLine(sessionLines{ctx, s})
	}
	fmt.Fprint(out, question)
	type reply struct {
		s   string
		err error
	}
	read := make(chan reply, 1)
	go func() {
		s, err := readLine(terminal)
		read <- reply{s, err}
	}()
	select {
	case a := <-read:
		return a.s, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func readLine(in io.Reader) (string, error) {
	var line strings.Builder
	var key [1]byte
	for line.Len() <= maxLine {
		if _, err := io.ReadFull(in, key[:]); errors.Is(err, io.EOF) {
			return "", ErrInterrupted
		} else if err != nil {
			return "", fmt.Errorf("read from the terminal: %w", err)
		}
		if key[0] == '\n' {
			return strings.TrimSpace(line.String()), nil
		}
		line.WriteByte(key[0])
	}
	return "", fmt.Errorf("a line has at most %d bytes", maxLine)
}

// Prompt asks the user of the program. In and Out are the terminal; Terminal false means that there is none, and every
// question is then a UsageError that names the flag which answers it.
type Prompt struct {
	In       term.File
	Out      io.Writer
	Terminal bool
}

// Say writes lines for the user to read before the questions that follow.
func (p Prompt) Say(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(p.Out, l)
	}
}

// Secret asks for a secret without echo. It first prints the lines above the question, such as the fault of the
// previous answer.
func (p Prompt) Secret(ctx context.Context, question string) (secret.Secret, error) {
	return p.secret(ctx, question, maxSecret, false)
}

// SecretText asks for a secret without echo that may have several lines when it is pasted, at most 8 KiB.
func (p Prompt) SecretText(ctx context.Context, question string) (secret.Secret, error) {
	return p.secret(ctx, question, maxSecretText, true)
}

// Line asks a question and shows the answer while it is typed.
func (p Prompt) Line(ctx context.Context, question string) (string, error) {
	if !p.Terminal {
		return "", &UsageError{Problem: "this is asked on a terminal, and there is none: " + question,
			Hint: "run it where you can type"}
	}
	return AskLine(ctx, p.In, p.Out, question)
}

// Confirm checks that the user means this account: its last four characters, given with --confirm or typed now, in any
// letter case. nothing is what did not happen when the answer is wrong, such as "nothing was signed".
func (p Prompt) Confirm(ctx context.Context, account, given, nothing string) error {
	want := account[max(len(account)-4, 0):]
	if given == "" {
		if !p.Terminal {
			return &UsageError{
				Problem: "this has to be confirmed, and there is no terminal to ask on",
				Hint:    "give the last four characters of the account with --confirm",
			}
		}
		var err error
		if given, err = p.Line(ctx,
			fmt.Sprintf("Type the last four characters of the account %s to go on: ", account)); err != nil {
			return err
		}
	}
	if !strings.EqualFold(given, want) {
		return &UsageError{Problem: "those are not the last four characters of the account; " + nothing}
	}
	return nil
}

// AdminKey reads the admin key from a regular file that only its owner may read or write (TH-K1), or asks for it
// without echo. The caller wipes the 32 bytes. A fault of the file is an error of the command line, which named it.
func (p Prompt) AdminKey(ctx context.Context, file string) (secret.Secret, error) {
	if file != "" {
		text, err := vault.ReadKeyFile(file)
		if err == nil {
			text, err = adminKey(text)
		}
		return text, InFile(err)
	}
	if !p.Terminal {
		return secret.Secret{}, &UsageError{
			Problem: "the admin key is needed, but there is no terminal",
			Hint:    "name a file that only you can read with --admin-key-file",
		}
	}
	typed, err := p.Secret(ctx, "Admin key (not shown): ")
	if err != nil {
		return secret.Secret{}, err
	}
	return adminKey(typed)
}

// adminKey reads a key of 64 hexadecimal digits, with or without 0x, and wipes the text. Errors never repeat it.
func adminKey(typed secret.Secret) (secret.Secret, error) {
	defer typed.Wipe()
	found, err := vault.ParseKey(typed.Reveal(), vault.Hint{Form: vault.FormHex, Kind: vault.EVM})
	if err != nil {
		return secret.Secret{}, fmt.Errorf("admin key: %w", err)
	}
	return found.Keys[0].Key, nil
}
