package builder

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/ui/compose"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

func TestUnfinishedWorkIsSavedAfterAChangeAndThereAtTheNextStart(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.fill(compose.IDTo(0), usdc).fill(compose.IDSig(0), "f((uint256 a, bytes[] b)[] items, string note)").press("esc")
	r.s.focus = compose.IDArg(0, []int{0})
	r.press("+")
	r.fill(compose.IDArg(0, []int{1}), "half a sen").press("esc")
	filledTransfer(r)
	if r.s.KeepOpen() != "" {
		t.Errorf("everything is on disk, and still: %s", r.s.KeepOpen())
	}
	again := keepRig(t, m)
	if again.s.form != intent.KindTransfer || again.s.x[intent.KindTransfer].Amount != "250.5" ||
		again.s.x[intent.KindTransfer].To != payee {
		t.Fatalf("%+v", again.s.x[intent.KindTransfer])
	}
	if !strings.Contains(again.view(), "Draft restored") {
		t.Error(again.view())
	}
	again.press("c")
	if got, want := texts(again.s.b.Calls[0].Args), texts(r.s.b.Calls[0].Args); got != want ||
		!strings.Contains(got, "half a sen") {
		t.Fatalf("%s\n%s", got, want)
	}
	for name, doc := range m.docs {
		if strings.Contains(string(doc), r.s.Network) ||
			strings.Contains(strings.ToLower(string(doc)), strings.ToLower(account)) {
			t.Errorf("%s names the network or an account: %s", name, doc)
		}
	}
}

// TestAFormStaysUntilItsOperationIsSent: a form under review is there at the next start, marked as reviewed. Once its
// operation is on its way the form is empty, here and at the next start, and U brings it back.
func TestAFormStaysUntilItsOperationIsSent(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	filledTransfer(r)
	r.press("r")
	op := &operation{snap: flow.Snapshot{Intent: r.started().Draft(), State: flow.StateReview2}}
	r.do(r.s.Update(activity.TrackMsg{Op: op}))
	again := keepRig(t, m)
	if again.s.x[intent.KindTransfer].Amount != "250.5" || !strings.Contains(again.view(), "already reviewed") {
		t.Fatalf("what was reviewed and not sent is lost, or nothing is said:\n%s", again.view())
	}
	for _, state := range []flow.State{flow.StateSigning, flow.StateRefused, flow.StateAbandoned,
		flow.StateNotExecuted} {
		op.snap.State = state
		if r.do(r.s.Update(activity.TrackMsg{Op: op})); r.s.empty() {
			t.Fatalf("%s: nothing was sent, and the form is empty", state)
		}
	}
	other := *op
	other.snap.State, other.snap.Intent.Pay = flow.StateAccepted, nil
	if r.do(r.s.Update(activity.TrackMsg{Op: &other})); r.s.empty() {
		t.Fatal("another operation emptied the form")
	}
	r.do(again.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: op.snap.Intent}}))
	if again = keepRig(t, m); again.s.empty() || strings.Contains(again.view(), "already reviewed") {
		t.Fatalf("what came back from its review is lost, or is still marked:\n%s", again.view())
	}
	op.snap.State = flow.StateAccepted
	r.do(r.s.Update(activity.TrackMsg{Op: op}))
	if !r.s.empty() || !strings.Contains(r.view(), "it was sent") {
		t.Fatalf("it would be made twice:\n%s", r.view())
	}
	if again := keepRig(t, m); !again.s.empty() {
		t.Fatal("it would be made twice after the next start")
	}
	if r.press("U"); r.s.x[intent.KindTransfer].Amount != "250.5" {
		t.Fatal("what was sent cannot be made again")
	}
}

// TestAFormIsEmptyOnceItsOrderIsSentHoweverLateThatIs: by then the rules would refuse the order as too short.
func TestAFormIsEmptyOnceItsOrderIsSentHoweverLateThatIs(t *testing.T) {
	r := keepRig(t, &memory{})
	r.press("d")
	r.s.b.Valid = compose.ChoiceOf(3, compose.OwnMinutes, compose.Validities())
	r.press("r")
	in := r.started()
	if in.Draft().ValidUntil == "" {
		t.Fatal("the order has no deadline of its own")
	}
	r.now = r.now.Add(170 * time.Second)
	if _, err := intent.Freeze(in.Draft(), r.s.Rules()); err == nil {
		t.Fatal("the rules still take the order")
	}
	op := &operation{snap: flow.Snapshot{Intent: in.Draft(), State: flow.StateExecuting}}
	if r.do(r.s.Update(activity.TrackMsg{Op: op})); !r.s.empty() || r.s.KeepOpen() != "" {
		t.Fatalf("it would be made twice, and leaving asks:\n%s", r.view())
	}
}

// TestTheTrialCallIsSavedLikeWhatIsTyped: pressing d is a change.
func TestTheTrialCallIsSavedLikeWhatIsTyped(t *testing.T) {
	m := &memory{}
	keepRig(t, m).press("d")
	if again := keepRig(t, m); again.s.b.Empty() {
		t.Fatal("the trial call is not there at the next start")
	}
}

// operation is an operation as the activity screen follows it.
type operation struct {
	activity.Operation
	snap flow.Snapshot
}

func (o *operation) Snapshot() flow.Snapshot { return o.snap }

// TestWhatIsNotSavedYetIsSavedBeforeTheProgramLeaves: Save does not wait for the pause after a change, a failing save
// is tried again, and an older change that is written late overwrites nothing newer.
func TestWhatIsNotSavedYetIsSavedBeforeTheProgramLeaves(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.s.store.pause, r.s.store.busy = time.Hour, true // a save is due
	r.fill(compose.IDTo(0), "0x123456")
	late := r.s.saveNow()
	r.fill(compose.IDTo(0), "0x1234567890")
	if r.s.KeepOpen() == "" || r.s.Save() == nil {
		t.Fatal("a change is not saved, and nothing would be done before leaving")
	}
	m.fail = errors.New("the disk is full")
	r.do(r.s.Save())
	if r.s.KeepOpen() == "" || r.s.Save() == nil {
		t.Fatal("a failed save counts as a save")
	}
	m.fail = nil
	r.do(r.s.Save())
	r.do(late)
	if r.s.KeepOpen() != "" || r.s.Save() != nil || !strings.Contains(string(m.docs[draftsName]), "0x1234567890") {
		t.Fatalf("%q, %s", r.s.KeepOpen(), m.docs[draftsName])
	}
	again := keepRig(t, m)
	if again.s.KeepOpen() != "" || again.s.Save() != nil {
		t.Errorf("a restored form is on disk, and still: %s", again.s.KeepOpen())
	}
}

func TestADamagedDraftIsNamedAndOverwritesNothingOfTheTemplates(t *testing.T) {
	m := &memory{docs: map[string][]byte{draftsName: []byte(`{"version":1,"calls":null,"x":1}`),
		templatesName: []byte(`{"version":9}`)}}
	r := keepRig(t, m)
	if !strings.Contains(r.view(), "cannot be read") {
		t.Error(r.view())
	}
	r.press("d", "s")
	if r.s.prompt.open || !strings.Contains(r.toast(), "left as they are") ||
		string(m.docs[templatesName]) != `{"version":9}` {
		t.Errorf("%q", r.toast())
	}
}

func TestAFailedSavingIsSaidOnce(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	m.fail = errors.New("the disk is full")
	r.fill(compose.IDTo(0), "0x12").press("esc")
	n := 0
	for _, x := range r.sent {
		if toast, ok := x.(screen.ToastMsg); ok && strings.Contains(toast.Text, "the disk is full") {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("said %d times", n)
	}
}

func TestTemplatesAreSavedUnderANameAndOpened(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	filledSwap(r)
	r.press("s").typeText("into ether").press("enter")
	r.press("c", "d", "s").typeText("pay").press("enter")
	r.press("s").typeText("pay").press("enter")
	if !strings.Contains(r.s.prompt.wrong, "once more") {
		t.Fatalf("a name was replaced unasked: %q", r.s.prompt.wrong)
	}
	r.press("enter")
	if r.s.prompt.open || len(r.s.store.templates) != 2 {
		t.Fatalf("%+v", r.s.store.templates)
	}
	again := keepRig(t, m)
	again.press("o").typeText("into").press("enter")
	if again.s.form != intent.KindSwap || again.s.x[intent.KindSwap].Receive != ethBase ||
		again.s.x[intent.KindSwap].Amount != "500" {
		t.Fatalf("%s %+v", again.s.form, again.s.x[intent.KindSwap])
	}
	again.press("o").typeText("delete").press("enter").typeText("pay").press("enter")
	if last := keepRig(t, m); len(last.s.store.templates) != 1 || last.s.store.templates[0].Name != "into ether" {
		t.Fatalf("%+v", last.s.store.templates)
	}
	if strings.Contains(string(m.docs[templatesName]), r.s.Network) {
		t.Error("a template names its network")
	}
}

func TestAnIntentGoesOutAndComesBackTheSame(t *testing.T) {
	m := &memory{}
	for _, to := range []func(*rig){filledTransfer, filledSwap, func(r *rig) { r.press("d") }} {
		r := keepRig(t, m)
		r.press("X", "c", "X")
		to(r)
		want := r.frozen()
		r.press("e", "enter")
		if !strings.Contains(r.toast(), "/home/ada/intent.json") {
			t.Fatalf("%q", r.toast())
		}
		path := filepath.Join(t.TempDir(), "in.json")
		if err := os.WriteFile(path, m.written["intent.json"], 0o600); err != nil {
			t.Fatal(err)
		}
		r.press("X", "o", "enter").typeText(path).press("enter")
		if r.s.prompt.open || !strings.Contains(r.s.note.Text, "read as an intent") {
			t.Fatalf("%q %q", r.s.prompt.wrong, r.s.note.Text)
		}
		if got := r.frozen(); got.Hash() != want.Hash() {
			t.Errorf("%+v\n%+v", got.Draft(), want.Draft())
		}
	}
}

func TestASafeBatchGoesOutAndComesBackWithItsChecksum(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.press("d")
	r.s.focus = compose.IDCall(0)
	r.press("p")
	want := r.frozen().Draft().Calls
	r.press("e", "down", "enter")
	batch := m.written["safe-batch.json"]
	if batch == nil {
		t.Fatalf("%q %v", r.toast(), r.s.fieldErrors)
	}
	read := func(doc string) {
		r.press("X", "o", "enter").paste(doc)
		if !r.s.prompt.open || r.s.prompt.doc == "" {
			t.Fatal("the paste was taken as an answer")
		}
		r.press("enter")
	}
	read(string(batch))
	if !strings.Contains(r.s.note.Text, "its checksum is right: 0x") {
		t.Errorf("%q %q", r.s.note.Text, r.s.prompt.wrong)
	}
	if got := r.frozen().Draft().Calls; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v\n%+v", got, want)
	}
	r.press("d")
	before := texts(r.s.b.Calls[0].Args)
	read(strings.Replace(string(batch), `"value": "0"`, `"value": "1"`, 1))
	if !strings.Contains(r.s.prompt.wrong, "the checksum is wrong") {
		t.Errorf("%q", r.s.prompt.wrong)
	}
	r.press("esc", "U")
	if texts(r.s.b.Calls[0].Args) != before {
		t.Error("something was taken from a file with a wrong checksum")
	}
	var doc map[string]any
	if err := json.Unmarshal(batch, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc["meta"].(map[string]any), "checksum")
	bare, _ := json.Marshal(doc)
	read(string(bare))
	if !strings.Contains(r.s.note.Text, "without a checksum") {
		t.Errorf("%q", r.s.note.Text)
	}
}

func TestABatchCannotHoldAllowancesAndSaysSoAtThem(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.press("d")
	r.s.b.Allow = []*compose.Allowance{{Asset: usdcBase, Spender: router, Amount: "1"}}
	r.press("e", "down", "enter")
	if m.written["safe-batch.json"] != nil || !strings.Contains(r.s.fieldErrors[compose.IDAllow], "none") {
		t.Fatalf("%v %v", r.s.fieldErrors, r.s.general)
	}
}

func TestAnIntentOfAnotherNetworkIsSaidToBeOne(t *testing.T) {
	r := keepRig(t, &memory{})
	r.press("o", "enter").paste(`{"version":1,"network":"0x` + strings.Repeat("cd", 32) +
		`","targetChain":"eip155:8453","calls":[{"to":"` + payee + `","value":"5"}]}`).press("enter")
	if !strings.Contains(r.s.note.Text, "another network") {
		t.Fatalf("%q %q", r.s.note.Text, r.s.prompt.wrong)
	}
	if d := r.frozen().Draft(); d.Network != r.s.Network {
		t.Fatal(d.Network)
	}
}

func TestABrokenCallOfAFileBecomesAMistakeAndNoOtherCall(t *testing.T) {
	r := keepRig(t, &memory{})
	r.press("o", "enter").paste(`{"version":1,"targetChain":"eip155:8453","calls":[{"to":"` + payee +
		`","data":"0x12345z","value":"-1"}]}`).press("enter")
	if _, ok := r.s.freeze(); ok {
		t.Fatal("it passed")
	}
	m := r.s.mistakes()
	if m[compose.IDData(0)] == "" || m[compose.IDValue(0)] == "" || r.s.b.Calls[0].Data != "0x12345z" {
		t.Fatalf("%v", m)
	}
}

func TestAFileThatIsNoneIsRefusedAtTheDialog(t *testing.T) {
	for doc, want := range map[string]string{
		`{"version":1}`: "neither calls", `{"version":2}`: "version 1", `{"a":1,"a":2}`: "", `{`: "",
		`{"transactions":[],"version":"1.0","chainId":"1"}`: "transactions",
	} {
		r := keepRig(t, &memory{})
		r.press("o", "enter").paste(doc).press("enter")
		if !r.s.prompt.open || r.s.prompt.wrong == "" || !strings.Contains(r.s.prompt.wrong, want) {
			t.Errorf("%s: %q", doc, r.s.prompt.wrong)
		}
	}
	r := keepRig(t, &memory{})
	r.press("o", "enter").typeText(filepath.Join(t.TempDir(), "none")).press("enter")
	if !strings.Contains(r.s.prompt.wrong, "there is no file") {
		t.Errorf("%q", r.s.prompt.wrong)
	}
	r.press("esc", "o", "enter").typeText(t.TempDir()).press("enter")
	if !strings.Contains(r.s.prompt.wrong, "is not a file") {
		t.Errorf("%q", r.s.prompt.wrong)
	}
}

func TestAClickChoosesARowAndHandsNothingOver(t *testing.T) {
	r := newRig(t)
	r.press("d")
	lines := strings.Split(r.view(), "\n")
	for y, line := range lines {
		n := len(r.sent)
		r.do(r.s.Update(screen.ClickMsg{X: 5, Y: y}))
		if strings.Contains(line, "slippage") && r.s.focus != compose.IDSlip ||
			strings.Contains(line, "Review") && r.s.focus != idReview {
			t.Errorf("%q: focus %s", line, r.s.focus)
		}
		r.do(r.s.Update(screen.ClickMsg{X: 5, Y: y}))
		for _, m := range r.sent[n:] {
			if _, ok := m.(screen.OpenMsg); ok {
				t.Fatalf("a click on %q handed something over", line)
			}
		}
		r.s.choice.Close()
		r.s.stopEditing()
	}
	r.s.focus = compose.IDChain
	r.view()
	for y, line := range strings.Split(r.view(), "\n") {
		if strings.Contains(line, "fund with") {
			r.do(r.s.Update(screen.ClickMsg{X: 5, Y: y}))
			r.do(r.s.Update(screen.ClickMsg{X: 5, Y: y}))
		}
	}
	if !r.s.choice.IsOpen() {
		t.Error("a second click does not open the list")
	}
}

func TestChangesAreCollectedBeforeTheyAreWritten(t *testing.T) {
	m := &memory{}
	r := keepRig(t, m)
	r.s.store.pause = time.Hour
	r.s.store.busy = true // a save is due
	n := m.saves
	r.fill(compose.IDTo(0), "0x123456")
	if m.saves != n {
		t.Fatal("written while another saving was due")
	}
	r.s.store.pause = 0
	r.do(r.s.Update(saveDueMsg{}))
	if m.saves != n+1 {
		t.Fatalf("%d savings", m.saves-n)
	}
}

func TestWorkOfLastTimeIsNotLostWhenSomethingWasTypedBeforeItCame(t *testing.T) {
	m := &memory{}
	filledTransfer(keepRig(t, m))
	r := newRig(t)
	ctx := r.s.ctx
	ctx.Keep, ctx.Export = m, m.export
	r.s = New(ctx, r.s.deps)
	r.s.store.pause = 0
	start := r.s.Init()
	r.fill(compose.IDTo(0), "usdc").press("esc")
	r.do(start)
	if r.s.b.Calls[0].To == "" || !strings.Contains(r.view(), "U brings it back") {
		t.Fatalf("what was typed is gone, or nothing is said:\n%s", r.view())
	}
	r.press("U")
	if r.s.form != intent.KindTransfer || r.s.x[intent.KindTransfer].Amount != "250.5" {
		t.Fatalf("%q %+v", r.s.form, r.s.x[intent.KindTransfer])
	}
}

func TestAClickOnANameOfTheFirstLineShowsThatForm(t *testing.T) {
	r := newRig(t)
	for _, form := range []string{intent.KindSwap, intent.KindTransfer, formCalls} {
		line := strings.Split(r.view(), "\n")[0]
		name := form
		if form == formCalls {
			name = "calls"
		}
		r.do(r.s.Update(screen.ClickMsg{X: strings.Index(line, name), Y: 0}))
		if r.s.form != form {
			t.Errorf("a click on %q shows %q", name, r.s.form)
		}
	}
}

func TestAClickTakesAnItemOfTheOpenList(t *testing.T) {
	r := newRig(t)
	r.w = 120
	r.press("d")
	r.s.focus = compose.IDSlip
	r.press("enter")
	for y, line := range strings.Split(r.view(), "\n") {
		if strings.Contains(line, "1.00 %") {
			r.do(r.s.Update(screen.ClickMsg{X: 0, Y: y}))
			if !r.s.choice.IsOpen() {
				t.Fatal("a click beside the list took something")
			}
			r.do(r.s.Update(screen.ClickMsg{X: 60, Y: y}))
		}
	}
	if r.s.choice.IsOpen() || r.s.b.Slip.Bps() != 100 {
		t.Fatalf("%d", r.s.b.Slip.Bps())
	}
}

func texts(args []*compose.Arg) string {
	var b strings.Builder
	compose.Walk(args, func(_ []int, n *compose.Arg) { b.WriteString(n.Text + "\n") })
	return b.String()
}

// TestTheNoteOfACallIsARowOfItsOwn: it can be read, changed and taken away, and stays in the file.
func TestTheNoteOfACallIsARowOfItsOwn(t *testing.T) {
	r := keepRig(t, &memory{})
	r.press("d")
	d := r.frozen().Draft()
	d.Calls[0].Note = "invoice 7"
	r.s.fill(d)
	if !strings.Contains(r.view(), "invoice 7") {
		t.Fatalf("no note\n%s", r.view())
	}
	r.on(compose.IDNote(0)).press("ctrl+u").typeText("invoice 8").press("esc")
	if got := r.frozen().Draft().Calls[0].Note; got != "invoice 8" {
		t.Errorf("%q", got)
	}
	if r.on(compose.IDNote(0)).press("ctrl+u", "esc", "up"); strings.Contains(r.view(), "invoice") {
		t.Errorf("an empty note is still a row\n%s", r.view())
	}
}

// TestAnABIFileIsReadForACall opens what a compiler writes: its functions are offered for the call in focus. A transfer
// takes none, and what is neither ABI nor document keeps its reason.
func TestAnABIFileIsReadForACall(t *testing.T) {
	const abi = `[{"type":"event","name":"Paid","inputs":[]},{"type":"function","name":"owner","inputs":[]},` +
		`{"type":"function","name":"pay","inputs":[{"name":"order","type":"uint256"}],"stateMutability":"payable"}]`
	for name, text := range map[string]string{"abi": abi, "artifact": `{"contractName":"Till","abi":` + abi + `}`} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "Till.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t)
			r.press("n").fill(compose.IDTo(1), router).press("esc")
			r.s.focus = compose.IDCall(1)
			r.press("o", "enter").typeText(path).press("enter")
			if !strings.Contains(r.view(), "Function of the ABI") {
				t.Fatal(r.view())
			}
			r.press("down", "enter")
			calls := r.s.b.Calls
			if fn := calls[1].Fn; fn == nil || fn.String() != "pay(uint256 order)" || calls[0].Fn != nil ||
				calls[1].To != router {
				t.Fatalf("%v, %v", calls[0], calls[1])
			}
			r.press("esc").s.focus = idReview
			if r.press("o", "enter").typeText(path).press("enter"); !strings.Contains(r.view(), "go to the call") {
				t.Error(r.view())
			}
			r = newRig(t)
			r.s.form, r.s.focus = intent.KindTransfer, idReview
			r.press("o", "enter").typeText(path).press("enter")
			if !strings.Contains(r.view(), "an ABI is for a call") {
				t.Error(r.view())
			}
		})
	}
	r := newRig(t)
	if r.press("o", "enter").paste(`{"abi":[]}`).press("enter"); !r.s.prompt.docs || r.s.choice.IsOpen() {
		t.Error(r.view())
	}
}
