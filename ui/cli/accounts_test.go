package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/wallet/vault"
)

// asked records the calls of the commands.
type asked struct {
	what any
	done []AdminResult
	err  error
}

func (a *asked) Show(_ context.Context, _ Global, chain caip.Chain) ([]AccountRoles, error) {
	a.what = chain
	one := AccountRoles{Account: "0xAcc0000000000000000000000000000000000001", Chain: "eip155:8453",
		Name: "Base\x1b[2J"}
	two := one
	two.Chain, two.Name = "eip155:10", "Optimism"
	two.RolesResponse = api.RolesResponse{
		Deployed: true, SessionAddress: "0x5e55", AdminAddress: "0xad", CoSigner: "0xc0", AdminNonce: "3",
		OperationNonce: "1", ExitAvailableAt: 1_760_000_000,
	}
	return []AccountRoles{one, two}, a.err
}

func (a *asked) Rotate(_ context.Context, _ Global, o RotateOptions) ([]AdminResult, error) {
	a.what = o
	return a.done, a.err
}

func (a *asked) Exit(_ context.Context, _ Global, o ExitOptions) ([]AdminResult, error) {
	a.what = o
	return a.done, a.err
}

func (a *asked) Undelegate(_ context.Context, g Global, o UndelegateOptions) ([]AdminResult, error) {
	a.what = []any{g.Account, o}
	return a.done, a.err
}

// runAccounts runs `coffer accounts …`.
func runAccounts(t *testing.T, a *asked, args ...string) (string, error) {
	t.Helper()
	p, out := program(t)
	p.Accounts = a
	err := p.Run(t.Context(), append([]string{"accounts"}, args...))
	return out.String(), err
}

const newSession = "0x52908400098527886E0F7030069857D2E4169EE7"

func TestAccountsFlagsReachTheCommands(t *testing.T) {
	base := caip.EVM(8453)
	for name, c := range map[string]struct {
		args string
		want any
	}{
		"show":     {"show", caip.Chain{}},
		"show one": {"show --chain eip155:8453", base},
		"rotate": {"rotate --new-session " + newSession,
			RotateOptions{NewSession: common.HexToAddress(newSession)}},
		"rotate in full": {"rotate --new-session " + strings.ToLower(newSession) +
			" --chain eip155:8453 --admin-key-file k --confirm 00aa --print",
			RotateOptions{AdminOptions{base, "k", "00aa", true}, common.HexToAddress(newSession)}},
		"undelegate": {"undelegate daily", []any{"daily", UndelegateOptions{}}},
		"undelegate in full": {"undelegate daily --chain eip155:8453 --yes",
			[]any{"daily", UndelegateOptions{Chain: base, Yes: true}}},
		"announce": {"exit announce --chain all", ExitOptions{Action: ExitAnnounce}},
		"cancel": {"exit cancel --chain eip155:8453 --json",
			ExitOptions{AdminOptions: AdminOptions{Chain: base}, Action: ExitCancel}},
		"sweep": {"exit sweep --to " + newSession, ExitOptions{Action: ExitSweep, To: common.HexToAddress(newSession)}},
	} {
		var a asked
		if _, err := runAccounts(t, &a, strings.Fields(c.args)...); err != nil || !reflect.DeepEqual(a.what, c.want) {
			t.Errorf("%s: %+v, %v", name, a.what, err)
		}
	}
}

func TestAccountsRefusesWhatItDoesNotUnderstandBeforeAnythingIsAsked(t *testing.T) {
	for name, args := range map[string]string{
		"no command":            "",
		"no exit command":       "exit",
		"unknown command":       "fly",
		"unknown exit command":  "exit fly",
		"no session":            "rotate",
		"zero session":          "rotate --new-session 0x0000000000000000000000000000000000000000",
		"mistyped session":      "rotate --new-session 0x52908400098527886E0F7030069857D2E4169Ee7",
		"short session":         "rotate --new-session 0x52",
		"solana":                "show --chain solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
		"no chain":              "exit announce --chain base",
		"sweep to nobody":       "exit sweep",
		"to without sweep":      "exit announce --to " + newSession,
		"a key on the command":  "exit announce --admin-key 0x01",
		"an extra word":         "show now",
		"rotate with a to flag": "rotate --new-session " + newSession + " --to " + newSession,
	} {
		var a asked
		if _, err := runAccounts(t, &a, strings.Fields(args)...); Code(err) != ExitUsage || a.what != nil {
			t.Errorf("%s: %+v, %v", name, a.what, err)
		}
	}
}

func TestRolesAreShownCleanedAndInWords(t *testing.T) {
	out, err := runAccounts(t, &asked{}, "show")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not deployed", "Optimism", "0x5e55", "from 2025-10-09T08:53:20Z"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("not cleaned: %q", out)
	}
	if exitWords(0) != "not announced" || strings.Contains(exitWords(1<<60), "20") {
		t.Error(exitWords(1 << 60))
	}
}

func TestJSONOfAccountsIsReadable(t *testing.T) {
	out, err := runAccounts(t, &asked{}, "show", "--json")
	var roles []AccountRoles
	if err != nil || json.Unmarshal([]byte(out), &roles) != nil || len(roles) != 2 || roles[1].AdminNonce != "3" {
		t.Errorf("%s, %v", out, err)
	}
	done := []AdminResult{{Account: "0x1", Chain: "eip155:1", Action: "announce-exit", Hash: "0xab"},
		{Account: "0x1", Chain: "eip155:10", Skipped: "done"}}
	out, err = runAccounts(t, &asked{done: done}, "exit", "announce", "--json")
	var got []AdminResult
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || !reflect.DeepEqual(got, done) {
		t.Errorf("%s, %v", out, err)
	}
}

// The results before a failure are shown, and printed calls are complete.
func TestResultsBeforeAFailureAreShown(t *testing.T) {
	failed := errors.New("the connection broke")
	for _, flag := range []string{"--json=false", "--json"} {
		out, err := runAccounts(t, &asked{done: []AdminResult{{Chain: "eip155:1", Hash: "0xabcdef"}}, err: failed},
			"exit", "announce", flag)
		if !errors.Is(err, failed) || !strings.Contains(out, "0xabcdef") {
			t.Errorf("%s, %v", out, err)
		}
	}
	calls := []AdminCall{{To: "0xAA", Data: "0x01"}, {To: "0xBB", Data: "0x02"}}
	out, err := runAccounts(t, &asked{done: []AdminResult{{Chain: "eip155:1", Action: "rotate-session", Calls: calls},
		{Chain: "eip155:10", Skipped: "this is it"}}}, "exit", "cancel", "--print")
	for _, want := range []string{"call 1 of 2", "0xaa", "0x01", "call 2 of 2", "0xbb", "0x02",
		"nothing to do, this is it"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func keyFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin.key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

const keyText = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"

// TH-K1: a key file that any other user may use is refused.
func TestKeyFileMustBeItsOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	for _, mode := range []os.FileMode{0o604, 0o640, 0o660, 0o644, 0o601, 0o610, 0o602, 0o620, 0o700 | 0o004} {
		path := keyFile(t, keyText, mode)
		_, err := Prompt{}.AdminKey(t.Context(), path)
		if Code(err) != ExitUsage || !strings.Contains(err.Error(), "chmod 600") ||
			strings.Contains(err.Error(), keyText[:8]) {
			t.Errorf("%o: %v", mode, err)
		}
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		for _, content := range []string{keyText, "0x" + keyText, "\n " + keyText + "\r\n"} {
			key, err := Prompt{}.AdminKey(t.Context(), keyFile(t, content, mode))
			if err != nil || hex.EncodeToString(key.Reveal()) != keyText {
				t.Errorf("%o: %v", mode, err)
			}
		}
	}
}

func TestKeyFileThatIsNoneIsRefusedWithoutRepeatingIt(t *testing.T) {
	dir := t.TempDir()
	if _, err := (Prompt{}).AdminKey(t.Context(), dir); Code(err) != ExitUsage {
		t.Error("a directory")
	}
	if _, err := (Prompt{}).AdminKey(t.Context(), filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) ||
		Code(err) != ExitUsage {
		t.Errorf("%v", err)
	}
	for name, content := range map[string]string{
		"empty": "", "short": keyText[1:], "long": keyText + "0", "not hex": "g" + keyText[1:],
		"large": strings.Repeat(keyText, 10), "two": keyText + "\n" + keyText,
		"zero": strings.Repeat("0", 64), "words": "legal winner thank year",
		"the order": "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
	} {
		_, err := Prompt{}.AdminKey(t.Context(), keyFile(t, content, 0o600))
		if Code(err) != ExitUsage || strings.Contains(err.Error(), keyText[1:20]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAdminKey(f *testing.F) {
	f.Add([]byte(keyText))
	f.Add([]byte("0x" + keyText + "\n"))
	f.Add([]byte("0x"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		text := strings.ToLower(string(typed))
		key, err := adminKey(secret.New(typed))
		if err != nil {
			if !errors.Is(err, vault.ErrBadKey) {
				t.Errorf("%v", err)
			}
			return
		}
		if len(key.Reveal()) != 32 || !strings.Contains(text, hex.EncodeToString(key.Reveal())) {
			t.Error("another key was read")
		}
		if bytes.IndexFunc(typed, func(r rune) bool { return r != 0 }) >= 0 {
			t.Error("the text was not wiped")
		}
	})
}

func TestConfirmTakesTheLastFourCharactersOnly(t *testing.T) {
	const account = "0x52908400098527886E0F7030069857D2E4169EE7"
	p := Prompt{Out: io.Discard}
	for given, ok := range map[string]bool{"9EE7": true, "9ee7": true, "9EE8": false, "EE7": false, "69EE7": false,
		account: false, "y": false} {
		if err := p.Confirm(t.Context(), account, given, "nothing was signed"); (err == nil) != ok ||
			!ok && Code(err) != ExitUsage {
			t.Errorf("%s: %v", given, err)
		}
	}
	if err := p.Confirm(t.Context(), account, "", "nothing was signed"); Code(err) != ExitUsage ||
		!strings.Contains(fmt.Sprint(err), "no terminal") {
		t.Errorf("without a terminal: %v", err)
	}
	if _, err := p.AdminKey(t.Context(), ""); Code(err) != ExitUsage {
		t.Errorf("a key without a terminal: %v", err)
	}
}

func TestAskLineReadsOneLineAndNoMore(t *testing.T) {
	in := strings.NewReader(" 9ee7 \nnext")
	var out bytes.Buffer
	got, err := AskLine(t.Context(), in, &out, "last four? ")
	rest, _ := io.ReadAll(in)
	if err != nil || got != "9ee7" || string(rest) != "next" || out.String() != "last four? " {
		t.Errorf("%q, %q left, %v", got, rest, err)
	}
	if _, err := AskLine(t.Context(), strings.NewReader("9e"), io.Discard, ""); !errors.Is(err, ErrInterrupted) {
		t.Errorf("the end of input: %v", err)
	}
	if _, err := AskLine(t.Context(), strings.NewReader(strings.Repeat("a", 1000)), io.Discard, ""); err == nil {
		t.Error("a line without end")
	}
	r, w := io.Pipe()
	defer w.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AskLine(over, r, io.Discard, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestL9_LeavingAQuestionIsSaidInWords: ctrl+c at a passphrase is no failure of the program.
func TestL9_LeavingAQuestionIsSaidInWords(t *testing.T) {
	var out bytes.Buffer
	Report(&out, fmt.Errorf("unlock: %w", ErrInterrupted))
	if got := out.String(); got != "coffer: you left the question; nothing was done after it\n" {
		t.Error(got)
	}
}
