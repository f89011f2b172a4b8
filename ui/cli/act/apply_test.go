package act

import (
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/ui/cli/act/plan"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// readPlan reads a plan file.
func readPlan(t testing.TB, path string) plan.Plan {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent puts the operation of a plan that was applied into the journal.
func sent(t testing.TB, r *rig, path string, s journal.State) {
	t.Helper()
	in, err := r.c.frozen(r.s, readPlan(t, path).Intent)
	if err != nil {
		t.Fatal(err)
	}
	r.book = append(r.book, journal.Operation{ID: opID, State: s, IntentHash: hashOf(in), Updated: r.now,
		QuoteID: quoteID(5), Outcome: "COMPLETED"})
}

// TestAPlanIsAppliedOnce: a second application is refused with words, whatever the outcome of the first; it asks no
// service and signs nothing.
func TestAPlanIsAppliedOnce(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.done(0, "apply", path, "--yes")
	if len(r.started) != 1 || !strings.Contains(string(r.kept[appliedFile]),
		`"salt":"ab01ab01ab01ab01","operation":"`+opID) {
		t.Fatalf("%d started, kept %s", len(r.started), r.kept[appliedFile])
	}
	for state, code := range map[journal.State]int{journal.Done: 4, journal.Acked: 6, journal.NotExecuted: 4,
		journal.Executing: 6} {
		r.book = nil
		sent(t, r, path, state)
		r.done(code, "apply", path, "--yes")
		if len(r.started) != 1 || r.op.prepares != 1 || r.op.signs != 1 {
			t.Errorf("%s: applied again", state)
		}
		r.says(opID)
	}
	r.book = nil
	sent(t, r, path, journal.Executing)
	r.done(6, "apply", path, "--dry-run")
}

// TestAPlanThatWasInterruptedSaysWhatBecameOfIt: the command asks for the outcome first, and reports it with the time
// of the application.
func TestAPlanThatWasInterruptedSaysWhatBecameOfIt(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.done(0, "apply", path, "--yes")
	applied := cli.Clock(r.now)
	r.now = r.now.Add(time.Hour)
	sent(t, r, path, journal.Acked)
	r.finds = func() error { r.book[0].State = journal.Done; return nil }
	r.done(4, "apply", path, "--yes")
	r.says("applied on "+applied, "it finished as COMPLETED")
}

// TestAPlanIsAppliedAgainOnlyWithANewSalt: --again takes the salt of the plan, and refuses a used one.
func TestAPlanIsAppliedAgainOnlyWithANewSalt(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.done(2, "apply", path, "--yes", "--again", "0000000000000000") // of no plan, though nothing was sent yet
	r.done(0, "apply", path, "--yes")
	sent(t, r, path, journal.Done)
	old := readPlan(t, path).Salt
	r.done(2, "apply", path, "--yes", "--again", "0000000000000000")
	r.done(4, "apply", path, "--yes", "--again", old)
	r.says("this very salt")

	r.c.Random = strings.NewReader("another!another!")
	r.done(0, "plan", path, "--fresh", "--out", path)
	fresh := readPlan(t, path)
	if fresh.Salt == old {
		t.Fatal("the salt is the old one")
	}
	r.done(4, "apply", path, "--yes")
	r.done(2, "apply", path, "--yes", "--again", old)
	if len(r.started) != 1 {
		t.Fatal("applied again")
	}
	r.done(0, "apply", path, "--yes", "--again", fresh.Salt)
	if len(r.started) != 2 {
		t.Error("not applied again")
	}
	r.done(4, "apply", path, "--yes", "--again", fresh.Salt)
}

// TestAnAppliedPlanIsKnownBeforeTheFirstSignature: the record is on disk before a key is used, and without the record
// nothing is signed.
func TestAnAppliedPlanIsKnownBeforeTheFirstSignature(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.s.Keep = broken{r}
	r.done(1, "apply", path, "--yes")
	if r.op.signs != 0 {
		t.Error("signed all the same")
	}
	r.s.Keep = r
	r.kept[appliedFile] = []byte("{")
	r.done(1, "apply", path, "--yes")
	if r.op.prepares != 1 {
		t.Error("went on without knowing what was applied")
	}
}

type broken struct{ *rig }

func (broken) Save(string, []byte) error { return os.ErrPermission }

// TestAnUnsentApplicationGoesOn: an operation that was signed and not sent is quoted again with the same signature;
// when its time is nearly over it is abandoned and begun anew.
func TestAnUnsentApplicationGoesOn(t *testing.T) {
	for left, anew := range map[time.Duration]bool{5 * time.Minute: false, time.Minute: true} {
		r := newRig(t)
		path := aPlan(t, r)
		sent(t, r, path, journal.Signed)
		in, err := r.c.frozen(r.s, readPlan(t, path).Intent)
		if err != nil {
			t.Fatal(err)
		}
		r.op.snap = flow.Snapshot{ID: opID, State: flow.StateQuoting, Intent: in.Draft(), SignaturesDone: 1,
			Deadline: r.now.Add(left)}
		r.unfinished = []Operation{r.op}
		r.done(0, "apply", path, "--yes")
		if (len(r.started) == 1) != anew || (r.op.signs == 1) != anew || (r.op.gones == 1) != anew ||
			r.op.executes != 1 {
			t.Errorf("%s left: %d started, %d signed, %d abandoned, %d executed", left, len(r.started), r.op.signs,
				r.op.gones, r.op.executes)
		}
	}
}

// TestThePlanIsShownBesideTheOperation: every line of the comparison, and a difference is marked.
func TestThePlanIsShownBesideTheOperation(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	r.op.spend = 31_000_000
	r.run("apply", path, "--dry-run")
	if out := r.out.String(); !strings.Contains(out, "AND OPERATION") || !strings.Contains(out, "= call 1") ||
		!strings.Contains(out, "= besides") {
		t.Error(out)
	}
	r.done(0, "apply", path, "--yes") // the fake has no limits; the verifier has
	r.says("! can leave at most", "$62.00")
}

// TestTheLimitsOfAPlanNarrowThePolicy: they reach the checks, none of them opens anything, and limits that exclude
// everything are refused.
func TestTheLimitsOfAPlanNarrowThePolicy(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r, "--never-delegate", "--limit-contracts", usdc)
	r.limits = verify.Limits{
		Chains: []caip.Chain{caip.EVM(8453), caip.EVM(1)}, MaxSpend: big.NewInt(5_000_000), MaxCostBps: 300,
		Gates: []string{verify.GateTarget}, MaxSlippageBps: 70,
		Paymasters: []common.Address{{1}},
	}
	r.done(0, "apply", path, "--yes")
	want := verify.Limits{
		Chains: []caip.Chain{caip.EVM(8453)}, Contracts: []common.Address{common.HexToAddress(usdc)},
		MaxSpend: big.NewInt(5_000_000), MaxCostBps: 100, MaxSlippageBps: 70,
		NeverDelegate: true, Gates: []string{verify.GateTarget}, Paymasters: []common.Address{{1}},
	}
	if !reflect.DeepEqual(r.limits, want) {
		t.Errorf("%+v", r.limits)
	}
	r.limits = verify.Limits{Chains: []caip.Chain{caip.EVM(1)}}
	r.book = nil
	r.done(4, "apply", path, "--yes")
	r.says("no chains in common")

	l, err := narrow(verify.Limits{}, verify.Limits{MaxSpend: big.NewInt(1), Recipients: []string{payee}})
	if err != nil || l.MaxSpend.Int64() != 1 || len(l.Recipients) != 1 {
		t.Errorf("%+v %v", l, err)
	}
}

// TestAChangedPlanIsNotApplied: the hash covers the file, the network and the accounts tie it to the profile.
func TestAChangedPlanIsNotApplied(t *testing.T) {
	r := newRig(t)
	path := aPlan(t, r)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(t.TempDir(), "edited.toml")
	if err := os.WriteFile(edited, []byte(strings.Replace(string(b), `max_spend_usd = "30"`, `max_spend_usd = "3000"`,
		1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.done(2, "apply", edited, "--yes")
	r.says("hash")
	r.done(0, "plan", edited, "--out", edited)
	r.done(0, "apply", edited, "--yes")

	r = newRig(t)
	r.s.Network.ID = strings.Replace(netID, "0x2e", "0x2f", 1)
	r.done(2, "apply", path, "--yes")
	r.says("another network")
}

// TestPlanComesFromWhateverDescribesACall: flags, an intent, a Safe batch and a plan; a file of another kind is not
// replaced.
func TestPlanComesFromWhateverDescribesACall(t *testing.T) {
	const batch = `{"version":"1.0","chainId":"8453","createdAt":1,"meta":{},` +
		`"transactions":[{"to":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","value":"0",` +
		`"data":"0xa9059cbb00000000000000000000000093dbd23b6b71b82e3a19ad8d51ddebbb13af7bc000000000000000000000000000` +
		`000000000000000000000000000000017d7840"}]}`
	for name, text := range map[string]string{"intent": transferOf25, "batch": batch} {
		r := newRig(t)
		out := filepath.Join(t.TempDir(), "p.json")
		r.done(0, "plan", file(t, name+".json", text), "--fund-with", "usdc", "--max-cost-bps", "50", "--out", out)
		p := readPlan(t, out)
		if p.Intent.FundWith != "ob:usdc" || len(p.Intent.TokensRequired) != 1 ||
			p.Intent.TokensRequired[0].Amount != "25000000" || p.Limits.MaxCostBps != 50 || p.Intent.Network != netID ||
			len(p.Intent.Accounts) != 1 {
			t.Errorf("%s: %+v", name, p)
		}
		r.done(2, "plan", file(t, name+".json", text), "--to", "usdc")
	}
	r := newRig(t)
	other := file(t, "notes.txt", "do not lose me\n")
	r.done(2, "plan", "--template", "--out", other)
	if b, _ := os.ReadFile(other); string(b) != "do not lose me\n" {
		t.Error("the file was replaced")
	}
	path := aPlan(t, r)
	r.done(2, "plan", path, "--fund-with", "usdc")
	r.done(2, "plan", "--fresh")
	r.done(2, "plan", "--template", "--format", "yaml")
}
