//go:build unix

package outcomes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/e2e/rig"
)

// whole is the text of a screen on one line, as it is read.
func whole(screen string) string { return strings.Join(strings.Fields(screen), " ") }

// told waits until the sentences are on the screen, wherever their lines break.
func told(p rig.Person, sentences ...string) {
	p.Helper()
	p.Waits(fmt.Sprintf("%q", sentences), func(screen string) bool {
		return !slices.ContainsFunc(sentences, func(s string) bool { return !strings.Contains(whole(screen), s) })
	})
}

// signsBoth reads and confirms the two reviews of a call, the second by typing what is paid.
func signsBoth(p rig.Person) {
	p.Helper()
	p.Sees("Review 1 of 2", "y sign")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Confirms(p.Finds(rig.ToType))
}

// smallCall fills in the trial call and makes its amount small: the account can pay it twice, and a lab's daily cap
// allows both.
func smallCall(p rig.Person) {
	p.Helper()
	p.FillsIn()
	amount := regexp.MustCompile(`›\s+amount `)
	for !amount.MatchString(p.Term.Screen()) {
		before := p.Finds(`(?m)^(›.*)$`)
		p.Types("\x1b[A")
		p.Waits("another row than "+before, func(screen string) bool { return !strings.Contains(screen, before) })
	}
	p.Types("\x15" + smallAmount)
	p.Escapes()
	told(p, "needs "+smallAmount+" USDC")
	p.Types("r")
}

// smallAmount is what a small call pays.
const smallAmount = "430.5"

// buildsAgain fills the order that was sent in again, and asks for its review.
func buildsAgain(p rig.Person) {
	p.Helper()
	p.Types("2")
	p.Sees("Review →", "it was sent, so the form is empty")
	p.Types("U")
	p.Sees("Review →", smallAmount)
	p.Types("r")
}

// settles waits for the half second in which a form takes nothing yet, of which the screen says nothing.
func settles(p rig.Person) {
	p.Helper()
	if err := p.Term.Still(600*time.Millisecond, rig.Limit); err != nil {
		p.Fatal(err)
	}
}

// configures changes the configuration of a team, or writes a file beside it.
func configures(t *testing.T, env []string, name string, change func(old string) string) (file string) {
	t.Helper()
	file = filepath.Join(strings.TrimPrefix(env[1], "XDG_CONFIG_HOME="), "coffer", name)
	old, err := os.ReadFile(file)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(file, []byte(change(string(old))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// allows gives a team a policy of these lines.
func allows(t *testing.T, env []string, lines string) {
	t.Helper()
	file := configures(t, env, "policy.toml", func(string) string { return "version = 1\n" + lines + "\n" })
	configures(t, env, "config.toml", func(old string) string {
		if strings.Contains(old, "policy_file") {
			return old
		}
		return strings.Replace(old, `vault = "file"`, fmt.Sprintf("vault = \"file\"\npolicy_file = %q", file), 1)
	})
}

// executed is the quote of the last request to execute.
func executed(b *rig.Between, t *testing.T) string {
	t.Helper()
	var q struct {
		ID string `json:"id"`
	}
	all := b.Saw(rig.PathExecute)
	if len(all) == 0 {
		t.Fatal("nothing was executed")
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &q, json.RejectUnknownMembers(false)); err != nil {
		t.Fatal(err)
	}
	return q.ID
}

// TestK3_TerminalARefundedLieGatesTheRepeat: in the dashboard a REFUNDED that hides a payment is told as the service's
// word, what was signed stays listed, and the same payment stands behind a gate with the sum of both: a closed one
// lets nothing through, an open one nothing but its sentence.
func TestK3_TerminalARefundedLieGatesTheRepeat(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--lifetime", "60s")
	s := &rig.Stage{Script: rig.Script{T: t, Env: env, Pass: rig.Passphrase}, Between: b}
	signed := func(want int, when string) {
		t.Helper()
		if calls, sent := len(b.Saw(rig.PathCallQuote)), len(b.Saw(rig.PathExecute)); calls != want || sent != 1 {
			t.Errorf("%s: %d calls are signed, not %d; executed %d times", when, calls, want, sent)
		}
	}
	b.Holds(api.StatusRefunded)
	p := rig.Opens(t, env, 118, 60) // one pane: sentences are read across its lines
	smallCall(p)
	signsBoth(p)
	told(p, "service: REFUNDED", "The service says this was refunded: it did not run, and what had been paid came "+
		"back; nothing on this machine proves it.", "signatures can still be used until ",
		"If you build it again before that, you could pay twice.", "refunded, says the service")
	p.Types("o")
	told(p, "Outstanding signatures", "the call itself, on Base", smallAmount+"00000 USDC")
	const nothing = "The service says nothing came of it; nothing on this machine proves it. It expires at "
	n, open := strings.Count(whole(p.Term.Screen()), nothing), opened(s.Script).Open
	if n < 2 || len(open) != n {
		t.Errorf("%d are told, the journal has %d open", n, len(open))
	}
	b.Honest()
	if status := b.Releases(t); status != 200 {
		t.Fatalf("the service answered the held execute with %d", status)
	}
	completes(s, executed(b, t))

	buildsAgain(p)
	const single, both = smallAmount + " USDC ($", "861 USDC ($"
	told(p, "nothing can be signed", "which can still run: you could pay twice. "+single,
		"can still be taken, and this can move "+single, ": "+both, "in all. After ",
		"it cannot start to run any more. J4", "Closed gate.", "Nothing was signed.")
	p.Types("y\rc")
	told(p, "Checks Blocked by a closed gate",
		"You signed for the place before this one yourself. If this can run, that has run")
	signed(1, "a closed gate")
	p.Escapes()
	told(p, "Nothing was signed.")
	p.Escapes()
	p.Sees("Review →")
	p.Types("1")
	p.Sees("›1 Balances")
	p.Quits()

	allows(t, env, `allow = ["open-repeat"]`)
	p = rig.Opens(t, env, 118, 60)
	p.Types("2") // the form was kept
	p.Sees("Review →", "already reviewed this order", smallAmount)
	p.Types("r")
	told(p, "Review 1 of 2", "you could pay twice. "+single, `your policy file allows "open-repeat".`,
		"I may pay this twice")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y\r")
	p.Sees("the sentence:")
	signed(1, "no sentence")
	p.Types("I may pay this once\r")
	p.Sees("not the same: I may pay this once")
	signed(1, "another sentence")
	p.Types(strings.Repeat("\x7f", len("once")) + "twice\r")
	told(p, "Review 2 of 2", "I may pay this twice")
	signed(2, "its sentence")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Types("y\r")
	p.Sees("the sentence:")
	p.Types("I may pay\r")
	p.Sees("not the same: I may pay")
	signed(2, "half of the sentence")
}

// TestK4_TerminalALaneInDoubtIsExplainedRepairedAndVoided: in the dashboard a COMPLETED of which nothing is true is
// told as the service's word and keeps every signature open. The lane in doubt is explained and repaired at a terminal,
// and a signature is voided, each after its confirmation and without losing one that is open or counts for the day.
// Then the honest service offers the same place, and only one of the two runs.
func TestK4_TerminalALaneInDoubtIsExplainedRepairedAndVoided(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--lifetime", "60s")
	configures(t, env, "config.toml", func(old string) string { // an account whose signatures no time ends
		return strings.NewReplacer(`"kernel-v3.1-ecdsa"`, `"role-based"`, "signer_address",
			"admin_address = \"0xad00000000000000000000000000000000000000\"\nsession_address").Replace(old)
	})
	s := &rig.Stage{Script: rig.Script{T: t, Env: env, Pass: rig.Passphrase}, Between: b}
	b.Holds(api.StatusCompleted)
	p := rig.Opens(t, env, 118, 60)
	smallCall(p)
	signsBoth(p)
	told(p, "service: COMPLETED", "The service says it ran; nothing on this machine "+
		"proves it.", "signatures can still be used; some never expire.",
		"your call ran on Base, says the service")
	p.Types("4")
	told(p, "The service lists nothing that was done with this account.", "what you signed is under Activity (3).")
	p.Types("3")
	b.Honest()
	open := opened(s.Script).Open
	if len(open) < 2 {
		t.Fatalf("%+v", open)
	}
	spent := spends(s)
	keeps := func(when string) {
		t.Helper()
		if now := opened(s.Script).Open; len(now) != len(open) || spends(s) != spent {
			t.Errorf("%s: open %d, before %d; spent %s, before %s", when, len(now), len(open), spends(s), spent)
		}
	}

	account, end := open[0].Sender, open[0].Sender[len(open[0].Sender)-4:]
	at := func(args string, code int, more ...string) string {
		t.Helper()
		answers := append([]string{"Passphrase of profile team", rig.Passphrase}, more...)
		screen, err := rig.Asks(t, env, strings.Fields(args), answers...)
		if fmt.Sprint(err) != map[int]string{0: "<nil>", 5: "exit status 5"}[code] {
			t.Fatalf("%s: %v\n%s", args, err, screen)
		}
		return whole(screen)
	}
	lane := "Base, account " + account + ", lane 0 (calls) goes on at "
	repair := "activity repair --chain eip155:8453 --account " + account + " --lane 0 --sequence "
	const doubt = "1, by what the service said; nothing on this machine proves it"
	got := at("activity repair", 0)
	if !strings.Contains(got, lane+doubt) || !strings.Contains(got, repair+"N") ||
		strings.Count(got, doubt) != len(open) {
		t.Errorf("the lanes are not explained: %s", got)
	}
	const question = "Type the last four characters of the account's address"
	if got = at(repair+"0", 5, question, "0000"); !strings.Contains(got, "nothing was written") {
		t.Error(got)
	}
	if got = at("activity repair", 0); !strings.Contains(got, lane+doubt) {
		t.Errorf("it was repaired without a confirmation: %s", got)
	}
	at(repair+"0", 0, question, end)
	got = at("activity repair", 0)
	if !strings.Contains(got, lane+"0, from where you set it") || strings.Count(got, doubt) != len(open)-1 {
		t.Errorf("it is not repaired: %s", got)
	}
	keeps("the repair")

	p.Types("o")
	told(p, "the call itself, on Base", "The service said it ran, and you set its lane back: take it to be open.")
	p.Types("j")
	p.Sees("›! a payment on ")
	p.Types("v")
	told(p, "Void a signature", "It takes nothing back.", "last four characters:")
	settles(p)
	p.Types("0000\r")
	p.Sees("That is not the end of the account's address. Nothing was voided.")
	if screen := p.Term.Screen(); strings.Contains(screen, "voided by you") {
		t.Error(screen)
	}
	settles(p)
	p.Types(strings.Repeat("\x7f", 4) + end + "\r")
	told(p, "Outstanding signatures", "voided by you", "Anyone who has it can still use it until this nonce")
	keeps("voiding")

	p.Types("o")
	buildsAgain(p)
	p.Sees("Review 1 of 2", "y sign")
	p.Types("c")
	told(p, "This replaces the open signature of ", "both have the same nonce, so only one of them can ever run. U3")
	p.Escapes()
	signsBoth(p)
	told(p, fmt.Sprintf("%d outstanding signatures", 2*len(open)))
	completes(s, executed(b, t))
	if n := len(b.Saw(rig.PathExecute)); n != 2 {
		t.Fatalf("executed %d times", n)
	}
	if status := b.Releases(t); status == 200 {
		t.Error("what was held ran as well")
	}
}

// spends says how much counts for the day beside a small payment, in the words of a policy that is too narrow for it.
func spends(s *rig.Stage) string {
	s.Helper()
	allows(s.T, s.Env, `max_spend_per_day_usd = "1"`)
	defer allows(s.T, s.Env, "")
	out, errs := s.Runs(4, rig.Pays(s.T, "call", "--dry-run")...)
	m := regexp.MustCompile(`this is +([0-9.]+ USD)`).FindStringSubmatch(out + errs)
	if m == nil {
		s.Fatalf("the day's sum is not said:\n%s%s", out, errs)
	}
	return m[1]
}
