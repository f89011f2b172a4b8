package linear

import (
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/api/secret"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

func TestAReviewThatIsNotWhatWasAskedIsNotSigned(t *testing.T) {
	for name, change := range map[string]func(*verify.PreparedView){
		"other data": func(v *verify.PreparedView) {
			v.Lines[0].Data = strings.Replace(v.Lines[0].Data, "53a0",
				"53a1", 1)
		},
		"other contract": func(v *verify.PreparedView) { v.Lines[0].To = payee },
		"with a value":   func(v *verify.PreparedView) { v.Lines[0].Value = number(1) },
		"one more call":  func(v *verify.PreparedView) { v.Lines = append(v.Lines, v.Lines[0]) },
		"an approval": func(v *verify.PreparedView) {
			l := v.Lines[0]
			l.Role, l.Asked, l.Args = verify.RoleApprove, 0,
				[]verify.ArgView{{Name: "spender", Type: "address", Value: payee}}
			v.Lines = append(v.Lines, l)
		},
		"marked":    func(v *verify.PreparedView) { v.Lines[0].AsAsked = false },
		"no call":   func(v *verify.PreparedView) { v.Lines = nil },
		"no window": func(v *verify.PreparedView) { v.Window.Until = time.Time{} },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.begins()
			r.op.view1 = prepared(utc())
			change(r.op.view1)
			r.op.stays = true
			r.types(callScript()[:reviewAt+1]...)
			r.types("1", "yes")
			if err := r.ends(); err != nil || r.op.signs != 0 {
				t.Errorf("%s: %d signed, %v", name, r.op.signs, err)
			}
		})
	}
}

func TestAnExpiredReview1IsPreparedAgain(t *testing.T) {
	_, op := inFrontOf(t, yesAt, func(r *rig) string {
		time.Sleep(11 * time.Minute)
		return r.types("yes")
	})
	if op.signs != 0 || op.prepares != 2 {
		t.Errorf("%d signed, %d prepared", op.signs, op.prepares)
	}
}

func TestNothingIsConfirmedThatCouldNotBePrinted(t *testing.T) {
	broken := errors.New("the printer is on fire")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.types(callScript()[:yesAt]...)
		r.paper.mu.Lock()
		r.paper.err = broken
		r.paper.mu.Unlock()
		r.types("?") // from here on printing fails
		if !r.ended {
			r.types("yes")
		}
		if err := r.ends(); !errors.Is(err, broken) || r.op.signs != 0 {
			t.Errorf("%d signed, %v", r.op.signs, err)
		}
	})
}

func TestAnErrorOfTheServiceLeavesTheChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.op.err = &api.Error{Name: api.ErrSimulationFailed, StatusCode: 422, Message: "reverted",
			Details: []api.Failure{{Path: "calls[0]", Expected: "a call that succeeds", Got: "paused"}}}
		r.wants(r.types(callScript()[:reviewAt+1]...), "Not done: Call 1 would fail: paused.",
			"The contract would refuse this call", "Nothing was signed.")
		r.wants(r.types("1"), "Review 1 of 2")
		r.op.err = &api.Error{Name: api.ErrInsufficientBalance, StatusCode: 400, Message: "too little"}
		r.op.snap.Problem = "You have too little to pay for this call: too little"
		r.types("1")
		r.op.snap.Problem = ""
		if err := r.ends(); err != nil || r.op.signs != 0 {
			t.Errorf("%d signed, %v", r.op.signs, err)
		}
	})
}

func TestAVaultThatLocksMeanwhileLeadsBackToTheReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		locked := false
		r.opts.Deps.Locked = func() bool { return locked }
		r.opts.Deps.Unlock = func(context.Context, secret.Secret) error { locked = false; return nil }
		r.opts.Deps.Secret = func(context.Context, string) (secret.Secret, error) {
			return secret.New([]byte("pass")),
				nil
		}
		r.begins()
		r.types(callScript()[:yesAt]...)
		r.op.err = vault.ErrLocked
		r.wants(r.types("yes"), "locked themselves meanwhile", "This closes in")
		locked = true
		r.wants(r.types("1"), "Unlocked. Nothing is signed yet.")
		r.wants(r.types("yes"), "Signature 1 of 3 is given.")
		if err := r.ends(); err != nil || r.op.signs != 2 {
			t.Errorf("%d signed, %v", r.op.signs, err)
		}
	})
}

func TestALineThatIsBeingReadComesBeforeThePassphrase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s := &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: r.opts.Deps, in: newInput(r.keys, utc),
			out: newPrinter(r.paper, 0)}
		asked := false
		s.deps.Secret = func(context.Context, string) (secret.Secret, error) {
			asked = true
			return secret.Secret{},
				nil
		}
		s.in.ask()
		done := make(chan error, 1)
		go func() {
			_, err := s.secret(context.Background(), "Passphrase: ")
			done <- err
		}()
		synctest.Wait()
		if asked || !strings.Contains(r.paper.take(), "Press Enter once,") {
			t.Error("two would read at the same time")
		}
		r.keys.lines <- "\n"
		if err := <-done; err != nil || !asked {
			t.Error(err)
		}
		s.in.close()
	})
}

func TestAPassphraseIsNeverReadByTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		locked := true
		r.opts.Deps.Locked = func() bool { return locked }
		r.opts.Deps.Unlock = func(_ context.Context, pass secret.Secret) error {
			if string(pass.Reveal()) == "open sesame" {
				locked = false
				return nil
			}
			return vault.ErrPassphrase
		}
		r.opts.Deps.Secret = func(context.Context, string) (secret.Secret, error) {
			l := <-r.keys.lines // from the same keyboard
			return secret.New([]byte(strings.TrimSuffix(l, "\n"))), nil
		}
		r.begins()
		r.types(callScript()[:yesAt]...)
		r.types("open sesame", "yes")
		if err := r.ends(); err != nil || r.op.signs != 1 || locked {
			t.Errorf("%d signed, locked %v, %v", r.op.signs, locked, err)
		}
	})
}

func TestFollowingCanBeLeftAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.statuses = nil
		r.begins()
		r.wants(r.types(callScript()...), "Following it.")
		r.wants(r.types(""), "Stopped following.", "What do you want to do?")
		if err := r.ends(); err != nil || r.op.snap.State != flow.StateAccepted {
			t.Errorf("%s, %v", r.op.snap.State, err)
		}
	})
}

// An operation without a follower is watched, and its end is reported once, before the next question of the main menu;
// so is the end of one that ended before the start.
func TestTheEndOfWhatNobodyFollowsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.statuses = nil
		r.begins()
		r.types(callScript()...)
		r.unfinished = []Operation{r.op}
		r.op.statuses = settled()
		r.types("")
		said := r.types("9")
		if !strings.Contains(flat(said), "Meanwhile: transfer on Base, begun") ||
			!strings.Contains(flat(said), "COMPLETED. Your call ran, and that is final.") {
			t.Errorf("the end is not told:\n%s", said)
		}
		if said := r.types("9", "7"); strings.Contains(said, "Meanwhile") ||
			!strings.Contains(said, "Nothing is under way") {
			t.Errorf("told twice, or still under way:\n%s", said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		failed := settled()[:1]
		failed[0].Status, failed[0].FailReason = api.StatusRefunded, "SLIPPAGE"
		r.op.begin(intent.Intent{})
		r.op.snap.State, r.op.statuses = flow.StateAccepted, failed
		if _, err := r.op.Watch(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r.unfinished = []Operation{r.op}
		r.begins()
		if all := flat(r.paper.text()); strings.Count(all, "Meanwhile: ") != 1 || !strings.Contains(all, "REFUNDED.") ||
			!strings.Contains(all, "The service says: SLIPPAGE.") {
			t.Errorf("the end is not told:\n%s", all)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// Between the report of the end and the next question a line may come: it answers that question.
func TestALineBehindTheEndIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.lingers = time.Minute
		r.begins()
		r.types(callScript()...)
		time.Sleep(time.Second)
		r.wants(r.hears(), "COMPLETED.")
		r.types("7")
		time.Sleep(time.Minute)
		said := r.hears()
		r.wants(said, "Nothing is under way")
		if err := r.ends(); err != nil || strings.Contains(r.paper.text(), "Not followed") {
			t.Errorf("%v:\n%s", err, r.paper.text())
		}
	})
}

func TestEvilTextReachesNoTerminal(t *testing.T) {
	evil := "\x1b]0;x\x07\x1b[2J\u202e\u200b\r\nNO\u2028\x9b31m" + strings.Repeat("w", 300)
	for _, width := range []int{0, 1, 40} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.opts.Width = width
			r.opts.Context.Profile, r.opts.Context.BaseURL, r.opts.Context.Vault.Where = evil, evil, evil
			r.op.view1 = prepared(utc())
			v := r.op.view1
			v.Chain.Name, v.CallTypeWords, v.Lines[0].ToName, v.Lines[0].Function, v.Fingerprint = evil, evil, evil,
				evil, hash(4)
			v.Lines[0].Args = append(v.Lines[0].Args, verify.ArgView{Name: evil, Type: evil, Value: evil},
				verify.ArgView{Name: "b", Type: "bytes", Value: evil})
			v.Outflow[0].Symbol, v.Outflow[0].Amount = evil, new(big.Int).Exp(number(10), number(77), nil)
			r.op.report1 = report(verify.Reason{Code: evil, Level: verify.Warn, Title: evil, Path: evil, Want: evil,
				Got: evil})
			q := quote(utc(), time.Minute)
			q.ID, q.Legs[0].Chain.Name, q.Pay[0].Symbol, q.FeeUSD = evil, evil, evil, evil
			q.Legs[0].Solana = &verify.SolanaView{FeePayer: evil, Memo: evil, BlockHash: evil,
				Instructions: []verify.InstructionView{{ProgramName: evil, Name: evil, Args: v.Lines[0].Args}}}
			r.op.next = q
			for i := range r.op.statuses {
				r.op.statuses[i].FailReason, r.op.statuses[i].Status = evil, evil
				r.op.statuses[i].OriginChainOperations = []api.OperationRef{
					{Hash: evil, Chain: evil, ExplorerURL: evil}}
			}
			r.pages = []api.HistoryPage{{Transactions: []api.HistoryRecord{
				{QuoteID: evil, Status: evil, Type: evil, FailReason: evil, Timestamp: evil,
					RecipientAccountID: evil}}}}
			r.begins()
			r.types("9", "8", "1", "")
			r.types(callScript()[:reviewAt+1]...)
			r.types("4", "5", "6", "1", "yes", "4", "5", "6")
			_, right := asked(t, r.types("1"), payee)
			r.types(right)
			if err := r.ends(); err != nil {
				t.Error(err)
			}
			if r.op.executes != 1 {
				t.Errorf("the conversation did not get through:\n%s", r.script.String())
			}
		})
	}
}

func TestNoFigureAddressOrReasonOfAReviewIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		big78 := new(big.Int).Sub(new(big.Int).Exp(number(10), number(78), nil), number(1))
		symbol := strings.Repeat("SYMBOL", 6) + "LONG"
		r.op.next = quote(utc(), time.Minute)
		for i := range 8 {
			r.op.next.Legs = append(r.op.next.Legs, verify.LegView{Chain: chain(uint64(100+i), "Chain"),
				Pays: usdcOf(int64(i), int64(i), "Chain"), Escrow: escrow, OpHash: hash(byte(i))})
		}
		r.op.next.Legs[2].Pays.Amount, r.op.next.Legs[2].Pays.Symbol = big78, symbol
		reason := strings.TrimSpace(strings.Repeat("reason ", 20))
		r.op.report2 = report(verify.Reason{Code: "Q1", Level: verify.Warn, Title: reason,
			Got: strings.Repeat("9", 150)})
		r.begins()
		r.types(append(callScript()[:yesAt+1], "3")...)
		said := strings.Join(strings.Fields(r.script.String()), "")
		for _, want := range []string{strings.ReplaceAll(reason, " ", ""), symbol, strings.Repeat("9", 150),
			strings.Repeat("999,", 23) + "999.999999", escrow[2:]} {
			if !strings.Contains(said, want) {
				t.Errorf("%s is not there", want)
			}
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

func TestFilesAreLoaded(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	transfer :=
		`{"version":1,"kind":"transfer","pay":{"asset":"ob:usdc","amount":"90000000"},` +
			`"receive":{"asset":"eip155:8453/erc20:` + usdc + `","account":"eip155:8453:` + payee + `"}}`
	safe := `{"version":"1.0","chainId":"8453","transactions":[{"to":"` + usdc + `","value":"0","data":"` +
		prepared(time.Time{}).Lines[0].Data + `"}]}`
	call, wrong, other := write("transfer.json", transfer), write("wrong.json", `{"version":1,"nonsense":2}`),
		write("other.json", `{"version":1,"network":"`+hash(2)+`","targetChain":"eip155:8453","calls":[{"to":"`+payee+
			`","value":"1"}]}`)
	list, faulty := write("list.csv", payee+",25,,\"rent, March\"\n0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,1.5\n"),
		write("faulty.csv", payee+",x,usdc@base\nnobody,1\n")
	batch, half := write("batch.json", safe), write("half.json", `{"version":1,"kind":"swap"}`)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.wants(r.types("6", filepath.Join(dir, "nowhere")), "It was not loaded.", "there is no file")
		r.wants(r.types(dir), "is not a file")
		r.wants(r.types(wrong), "nonsense")
		r.wants(r.types(call), "Transfer: you pay 90 USDC, from all chains together.", "To: 0x93DB D23b")
		r.wants(r.types("1", "1", "yes", ""), "COMPLETED.")
		r.wants(r.types("6", batch), "1 call on Base.", "Needs: 250.5 USDC", "amount: 250.5 USDC")
		r.op.next = nil
		r.wants(r.types("1"), "Send 250.50 USDC to alice on Base.")
		r.types("", "", "yes")
		r.wants(r.types("6", other, "1"), "another network")
		r.types("", "yes")
		r.wants(r.types("6", faulty), "It was not loaded.", "Line 1, amount: ", "Line 2, recipient: ")
		r.wants(r.types(list), "Which asset do they pay, and where?")
		r.wants(r.types("usdc@base"), "2 calls on Base.", "Needs: 26.5 USDC", "Note: rent, March.")
		r.types("", "yes")
		r.wants(r.types("6", half), "It does not say what is paid", "1. Review it", "2. Slippage")
		r.wants(r.types("1"), "It cannot be sent as it is:")
		if err := r.ends(); err != nil || r.op.executes != 1 || len(r.started) != 2 {
			t.Errorf("%d executed, %d begun, %v", r.op.executes, len(r.started), err)
		}
	})
}

func TestAPlanIsSavedAsAnIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var saved []byte
		r.opts.Context.Export = func(name string, data []byte) (string, error) {
			saved = data
			return "/somewhere/" + name, nil
		}
		r.begins()
		r.types(callScript()[:reviewAt]...)
		r.wants(r.types("9"), "Saved to: /somewhere/intent.json")
		if err := r.ends(); err != nil || !strings.Contains(string(saved), `"targetChain":"eip155:8453"`) {
			t.Errorf("%s, %v", saved, err)
		}
	})
}

// A list that takes minutes to hear is cut: the rest is found by its word, or heard on request.
func TestALongListIsCutAndItsWordsAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		said := r.types("5", "2", "1", "90")
		r.wants(said, "25. GMX", "more: type the first word of one")
		if strings.Contains(said, "BRETT") {
			t.Error("everything was said")
		}
		r.wants(r.types("?"), "BRETT, Brett")
		r.wants(r.types("nosuch"), "is not one of the choices")
		r.wants(r.types("brett"), "BRETT")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
