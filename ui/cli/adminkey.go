package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"coffer/api/secret"
)

// maxKeyFile bounds a key file, in bytes: 0x, 64 digits and some white space.
const maxKeyFile = 256

// ErrKeyText means that a text is not a private key. It never repeats the text.
var ErrKeyText = errors.New("not a private key: expected 64 hexadecimal digits, with or without 0x")

// ReadKeyFile reads a private key from a regular file that only its owner may read or write (TH-K1). The caller wipes
// the 32 bytes. Any fault of the file is an error of the command line, which named it (exit code 2).
func ReadKeyFile(path string) (secret.Secret, error) {
	key, err := readKeyFile(path)
	var usage *UsageError
	if err == nil || errors.As(err, &usage) {
		return key, err
	}
	return key, InFile(fmt.Errorf("admin key file: %w", err))
}

func readKeyFile(path string) (secret.Secret, error) {
	f, err := os.Open(path)
	if err != nil {
		return secret.Secret{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat() // of the opened file, so that the checked file is the one that is read
	if err != nil {
		return secret.Secret{}, err
	}
	if !info.Mode().IsRegular() {
		return secret.Secret{}, fmt.Errorf("%s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return secret.Secret{}, &UsageError{
			Problem: fmt.Sprintf("admin key file: others may use %s (mode %04o)", path, mode),
			Hint:    "make it yours alone: chmod 600 " + path,
		}
	}
	content := make([]byte, maxKeyFile+1)
	defer clear(content)
	n, err := io.ReadFull(f, content)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return secret.Secret{}, err
	}
	if n > maxKeyFile {
		return secret.Secret{}, fmt.Errorf("%s is too large for a key", path)
	}
	return ParseKey(secret.New(content[:n]))
}

// ParseKey reads the 32 bytes of a private key of secp256k1 from text: 64 hexadecimal digits, with or without 0x,
// white space around them. It wipes the text. The error is ErrKeyText and never repeats it.
func ParseKey(typed secret.Secret) (secret.Secret, error) {
	defer typed.Wipe()
	digits := trim(typed.Reveal())
	if len(digits) >= 2 && digits[0] == '0' && digits[1] == 'x' {
		digits = digits[2:]
	}
	if len(digits) != 64 {
		return secret.Secret{}, ErrKeyText
	}
	key := make([]byte, 32)
	if _, err := hex.Decode(key, digits); err != nil {
		clear(key)
		return secret.Secret{}, ErrKeyText // the cause names a character of the key
	}
	var number secp256k1.ModNScalar
	defer number.Zero()
	if overflow := number.SetByteSlice(key); overflow || number.IsZero() {
		clear(key)
		return secret.Secret{}, ErrKeyText
	}
	return secret.New(key), nil
}

// trim cuts white space without a copy.
func trim(b []byte) []byte {
	white := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
	for len(b) > 0 && white(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && white(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

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

func (p Prompt) secret(ctx context.Context, question string, limit int, lines bool) (secret.Secret, error) {
	if pass, mine, err := given(ctx, question); mine {
		return pass, err
	}
	if !p.Terminal {
		return secret.Secret{}, Unasked(question)
	}
	said, question := above(question)
	p.Say(said...)
	return askSecret(ctx, p.In, p.Out, question, limit, lines)
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
// letter case.
func (p Prompt) Confirm(ctx context.Context, account, given string) error {
	return p.confirm(ctx, account, given, "nothing was signed")
}

// ConfirmDeletion is Confirm for a command that deletes a key.
func (p Prompt) ConfirmDeletion(ctx context.Context, account, given string) error {
	return p.confirm(ctx, account, given, "nothing was deleted")
}

// confirm is Confirm; nothing is what did not happen when the answer is wrong.
func (p Prompt) confirm(ctx context.Context, account, given, nothing string) error {
	want := account[max(len(account)-4, 0):]
	if given == "" {
		if !p.Terminal {
			return &UsageError{
				Problem: "this has to be confirmed, and there is no terminal to ask on",
				Hint:    "give the last four characters of the account with --confirm",
			}
		}
		var err error
		if given, err = AskLine(ctx, p.In, p.Out,
			fmt.Sprintf("Type the last four characters of the account %s to go on: ", account)); err != nil {
			return err
		}
	}
	if !strings.EqualFold(given, want) {
		return &UsageError{Problem: "those are not the last four characters of the account; " + nothing}
	}
	return nil
}

// AdminKey reads the admin key from the file, or asks for it without echo. The caller wipes the 32 bytes.
func (p Prompt) AdminKey(ctx context.Context, file string) (secret.Secret, error) {
	if file != "" {
		return ReadKeyFile(file)
	}
	if !p.Terminal {
		return secret.Secret{}, &UsageError{
			Problem: "the admin key is asked for on a terminal, and there is none",
			Hint:    "name a file that only you can read with --admin-key-file",
		}
	}
	typed, err := AskSecret(ctx, p.In, p.Out, "Admin key (not shown): ")
	if err != nil {
		return secret.Secret{}, err
	}
	return ParseKey(typed)
}
