package linear

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// callScript leads from the start to an executed transfer of 250.5 USDC on Base; yesAt and amountAt are the answers
// that confirm.
func callScript() []string {
	return []string{"3", "5", "usdc", "transfer(address to, uint256 amount)", "alice", "250.5", "1", "1", "yes", "1",
		"250.98"}
}

const (
	reviewAt = 6
	yesAt    = 8
	amountAt = 10
)

// conversation runs a script in a bubble and compares the transcript.
func conversation(t *testing.T, name string, set func(*rig), script []string, check func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if set != nil {
			set(r)
		}
		r.begins()
		r.types(script...)
		if err := r.ends(); err != nil {
			t.Fatal(err)
		}
		r.golden(name)
		if check != nil {
			check(r)
		}
	})
}

func TestGoldenCall(t *testing.T) {
	conversation(t, "call", nil, append(callScript(), ""), func(r *rig) {
		if r.op.signs != 1 || r.op.executes != 1 || r.op.confirmed[0] != hash(4) || r.op.confirmed[1] != hash(8) ||
			r.op.gones != 0 {
			r.t.Errorf("%+v", r.op)
		}
		d := r.started[0].Draft()
		if !strings.EqualFold(d.Calls[0].Data, prepared(utc()).Lines[0].Data) ||
			d.TokensRequired[0].Amount != "250500000" || d.SlippageBps != intent.DefaultSlippageBps {
			r.t.Errorf("%+v", d)
		}
	})
}

func TestGoldenTransfer(t *testing.T) {
	conversation(t, "transfer", nil, []string{"4", "2", "1", "90", "5", "alice", "1", "1", "yes", ""}, func(r *rig) {
		d := r.started[0].Draft()
		if d.Kind != intent.KindTransfer || d.Pay.Asset != "ob:usdc" || d.Pay.Amount != "90000000" ||
			d.Receive.Account != "eip155:8453:"+payee {
			r.t.Errorf("%+v %+v %+v", d, d.Pay, d.Receive)
		}
		if r.op.executes != 1 || r.op.signs != 0 {
			r.t.Errorf("%d executes", r.op.executes)
		}
	})
}

func TestGoldenSwap(t *testing.T) {
	conversation(t, "swap", nil, []string{"5", "2", "3", "90", "1", "2", "4", "0.01", "1", "2", "1", "yes", ""},
		func(r *rig) {
			d := r.started[0].Draft()
			if d.Kind != intent.KindSwap || d.Pay.Asset != caip.ERC20(8453, addressOf(usdc)).String() ||
				d.Receive.Asset != caip.Native(10).String() || d.Receive.Minimum != "10000000000000000" {
				r.t.Errorf("%+v %+v %+v", d, d.Pay, d.Receive)
			}
			if r.op.executes != 1 || r.op.quotes != 2 {
				r.t.Errorf("%d executes, %d quotes", r.op.executes, r.op.quotes)
			}
		})
}

func TestGoldenRefusal(t *testing.T) {
	conversation(t, "refusal", func(r *rig) {
		r.op.report1 = report(
			verify.Reason{Code: "U7", Level: verify.Refuse,
				Title: "Not true: the operation contains the calls that were asked for.",
				Path:  "/chainOperation/userOp/callData", Want: "1 call", Got: "2 calls"},
			verify.Reason{Code: "T7", Level: verify.Gate, Setting: verify.GateBlindSigning,
				Title: "The hash that would be signed cannot be computed here."})
	}, append(callScript()[:reviewAt+1], "3", "1", "9", "yes", ""), func(r *rig) {
		if r.op.signs != 0 || r.op.gones != 1 {
			r.t.Errorf("%d signs, %d abandoned", r.op.signs, r.op.gones)
		}
	})
}

func TestGoldenExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.requoted = func(now time.Time) *verify.QuoteView {
			q := quote(now, time.Minute)
			q.Pay[0], q.PayMicro = usdcOf(226_040_000, 225_994_792, ""), number(225_994_792)
			q.Legs[0].Pays = usdcOf(126_040_000, 126_014_792, "Optimism")
			q.Fees[0], q.FeesMicro, q.CostMicro = usdcOf(540_000, 539_892, ""), number(539_892), number(539_892)
			q.Fingerprint = hash(9)
			return q
		}
		r.begins()
		r.types(callScript()[:amountAt]...)
		time.Sleep(2 * time.Minute)
		r.wants(r.types("250.98"), "expired", "Cost: 0.54 USDC, $0.54, Warning: was 0.48")
		if r.op.executes != 0 || r.op.quotes != 2 {
			t.Fatalf("%d executes, %d quotes after the deadline", r.op.executes, r.op.quotes)
		}
		r.wants(r.types("1", "250.98"), "You typed \"250.98\", expected 251.", "Nothing was signed. Try again")
		r.types("251.04")
		if err := r.ends(); err != nil {
			t.Fatal(err)
		}
		r.golden("expiry")
		if r.op.executes != 1 || r.op.confirmed[1] != hash(9) {
			t.Errorf("%q", r.op.confirmed)
		}
	})
}

// gated adds an open gate to review 1.
func (r *rig) gated() {
	r.op.view1 = prepared(utc())
	r.op.view1.AccountType, r.op.view1.Phrase = api.AccountRoleBased, gate
	r.op.report1 = report(verify.Reason{
		Code: "T7", Level: verify.Gate, Open: true, Setting: verify.GateBlindSigning,
		Title: "The hash that would be signed cannot be computed here: the service could show one operation and have " +
			"another one signed.",
	})
}

func TestGoldenGate(t *testing.T) {
	conversation(t, "gate", (*rig).gated, append(callScript()[:yesAt], "yes", gate), func(r *rig) {
		if r.op.signs != 1 || r.op.confirmed[0] != hash(4)+"\n"+gate {
			r.t.Errorf("%q", r.op.confirmed)
		}
	})
}

func TestGoldenWholeConsent(t *testing.T) {
	conversation(t, "whole", func(r *rig) {
		r.op.view1 = prepared(utc())
		r.op.view1.WholeConsent, r.op.view1.AccountType, r.op.view1.Signatures = true, api.AccountKernelV33, 2
		r.op.view1.Delegation = &verify.DelegationView{Chain: chain(8453, "Base"), Authority: account,
			Contract: "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28", ContractName: "Kernel v3.3 account", Nonce: 7}
	}, append(callScript()[:yesAt], "yes", "", "5", "6", "1", "250.50"), func(r *rig) {
		if r.op.signs != 1 {
			r.t.Errorf("%d signs", r.op.signs)
		}
	})
}

func TestGoldenLocked(t *testing.T) {
	locked, tries := true, 0
	conversation(t, "locked", func(r *rig) {
		r.opts.Deps.Locked = func() bool { return locked }
		r.opts.Deps.Secret = func(context.Context, string) (secret.Secret,
			error) {
			return secret.New([]byte("a passphrase")), nil
		}
		r.opts.Deps.Unlock = func(_ context.Context, pass secret.Secret) error {
			if tries++; tries == 1 {
				return vault.ErrPassphrase
			}
			locked = false
			return nil
		}
	}, append(callScript()[:yesAt], "1", "yes"), func(r *rig) {
		if r.op.signs != 1 || tries != 2 {
			r.t.Errorf("%d signs, %d tries", r.op.signs, tries)
		}
	})
}

func TestGoldenLooking(t *testing.T) {
	conversation(t, "looking", func(r *rig) {
		r.pages = []api.HistoryPage{
			{Transactions: []api.HistoryRecord{record(hash(5), api.StatusCompleted, ""),
				record(hash(6), api.StatusRefunded, "SLIPPAGE")}, Continuation: "i"},
			{Transactions: []api.HistoryRecord{record(hash(6), api.StatusRefunded, "SLIPPAGE"),
				record(hash(7), "SHIPPED\x1b[2J", "")}},
		}
	}, []string{"1", "?", "1", "all", "h", "", "2", "", "8", "2", "more", "1", "page 1", "page 9", "", "9", "0",
		"nonsense\x1b[A", "?"}, nil)
}

// What own nodes saw is told apart from operations, and what they did not tell is said in words.
func TestGoldenSeenByNodes(t *testing.T) {
	conversation(t, "seen", func(r *rig) {
		signature := strings.Repeat("5", 88)
		seen := record(present.SeenID(signature, 0), present.StatusSeen, "slot 417")
		seen.Type, seen.OriginToken, seen.RecipientAccountID = present.TypeReceived, api.OriginToken{Amount: "0"}, ""
		seen.DestinationToken = api.DestinationToken{AssetType: caip.SOL().String(), Amount: "1500000000"}
		seen.OriginChainOperations = nil
		seen.DestinationChainOperations = []api.OperationRef{{Hash: signature, Chain: caip.SolanaMainnet().String()}}
		sent := seen
		sent.Type, sent.FailReason = present.TypeSent, "slot 417, fee 0.000005 SOL"
		sent.OriginToken = api.OriginToken{AssetType: []string{caip.SOL().String()}, Amount: "1500000000"}
		unread := api.HistoryRecord{QuoteID: present.UnreadID, Status: present.StatusUnread,
			FailReason: "What others did on Solana is not known: your nodes do not agree."}
		sent.QuoteID = present.SeenID(signature, 1)
		r.pages = []api.HistoryPage{{Transactions: []api.HistoryRecord{unread, seen, sent,
			record(hash(5), api.StatusCompleted, "")}}}
	}, []string{"8", "1", "2", "3", "", "0"}, nil)
}

func record(id, status, reason string) api.HistoryRecord {
	return api.HistoryRecord{
		QuoteID: id, Status: status, FailReason: reason, Type: api.RecordTransfer, Timestamp: "2026-11-21T12:01:03Z",
		RecipientAccountID: "eip155:8453/" + strings.ToLower(payee),
		OriginToken:        api.OriginToken{AggregatedAssetID: "ob:usdc", Amount: "90480000"},
		DestinationToken: api.DestinationToken{AssetType: caip.ERC20(8453, addressOf(usdc)).String(),
			Amount: "90000000"},
		OriginChainOperations: []api.OperationRef{{Hash: hash(11), Chain: "eip155:10",
			ExplorerURL: "https://evil.example/tx"}},
	}
}

func TestGoldenActivity(t *testing.T) {
	conversation(t, "activity", func(r *rig) {
		r.op.begin(callIntent(r))
		r.op.snap.State, r.op.snap.SignaturesDone, r.op.snap.Review1, r.op.view1 = flow.StateQuoting, 1,
			prepared(utc()), prepared(utc())
		r.op.snap.Problem = "The call was signed but not sent. Ask for a new quote, or abandon it."
		r.unfinished = []Operation{r.op}
		sig := journal.Signature{
			Role: verify.RolePrepared, Kind: api.AccountRoleBased, Chain: "eip155:8453", Sender: account, Nonce: "7",
			OpHash: hash(2), ValidUntil: verify.NoEnd,
			Spend: []journal.Spend{{Asset: caip.ERC20(8453, addressOf(usdc)).String(), Amount: "250500000"}},
		}
		timed := sig
		timed.Kind, timed.ValidUntil, timed.OpHash = api.AccountKernelV31, utc().Add(time.Minute).Unix(), hash(3)
		r.live = []journal.Outstanding{{Signature: sig, Op: "op1", Void: "ends when another operation uses nonce 7"},
			{Signature: timed, Op: "op1", Void: "ends with its window"}}
	}, []string{"7", "s", "1", "5A11", "1", "5a10", "", "1", "1", "1", "250.98", ""}, func(r *rig) {
		if len(r.voided) != 1 || r.voided[0] != hash(2) {
			r.t.Errorf("%q", r.voided)
		}
		if r.op.executes != 1 {
			r.t.Errorf("%d executes", r.op.executes)
		}
	})
}

// callIntent is the intent that callScript builds.
func callIntent(r *rig) intent.Intent {
	p := &plan{follows: true, minutes: compose.DefaultMinutes, d: intent.Draft{
		Version: intent.Version, TargetChain: "eip155:8453", SlippageBps: 50,
		Calls: []intent.Call{{To: usdc, Data: prepared(utc()).Lines[0].Data,
			Function: "transfer(address to, uint256 amount)"}},
	}}
	s := &session{World: worldOf(r.opts), ctx: r.opts.Context}
	in, err := s.freeze(p)
	if err != nil {
		r.t.Fatal(err)
	}
	return in
}

func TestGoldenForms(t *testing.T) {
	conversation(t, "forms", nil, []string{
		"3", "5", "0x1234", payee, "nonsense", "pay((address who, uint256[] amounts)[2] items, string note, bool now)",
		"bob", "alice", "2", "1", "two", "2", usdc, "0", "\"\"", "maybe", "true", "0.25",
		"2", "usdc", "approve(address,uint256)", "alice", "7", "yes",
		"2", "alice", "data", "0x12345", "0xdeadbeef", "0",
		"5", "2", "3", "1.5", "6", "2", "1", "7", "11", "5", "8", "0.001", "1", "3", "4", "1", "",
	}, func(r *rig) {
		if len(r.started) != 1 {
			r.t.Fatal("nothing was asked for")
		}
		d := r.started[0].Draft()
		if len(d.Calls) != 1 || d.Calls[0].Value != "250000000000000000" || len(d.Allowances) != 1 ||
			d.Allowances[0].Amount != "7000000" || d.FundWith != "ob:eth" || d.ValidUntil == "" ||
			d.SlippageBps != 100 {
			r.t.Errorf("%+v", d)
		}
		if n := len(d.TokensRequired); n != 3 {
			r.t.Errorf("%d tokens required", n)
		}
	})
}

func TestSignatureWordsNameEverySignature(t *testing.T) {
	c := &reviewSession{snap: flow.Snapshot{Review1: prepared(utc()), Review2: quote(utc(), time.Minute)}}
	c.snap.Review2.Legs[1].Delegation = &verify.DelegationView{Chain: chain(42161, "Arbitrum"), Nonce: 1}
	c.snap.Review1.WholeConsent = false
	if got := strings.Join(present.SignatureNames(c.snap), "; "); got !=
		"the call on Base; payment on Optimism; the delegation of your EOA on Arbitrum; payment on Arbitrum" ||
		c.total() != 4 {
		t.Errorf("%d: %s", c.total(), got)
	}
	if c.signatureWords(9) == "" {
		t.Error("a signature without words")
	}
}
