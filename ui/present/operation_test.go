package present_test

import (
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/present/presenttest"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// stateOf is the state of an operation of whose signatures nothing is known.
func stateOf(x flow.Snapshot) present.State {
	return present.StateOf(x, present.Live{}, time.Time.String, present.Keys{})
}

func operation(state flow.State, kind, status string) flow.Snapshot {
	x := flow.Snapshot{ID: "op1", State: state, SignaturesDone: 1, SignaturesTotal: 1,
		Status: api.ExecutionStatus{Status: status}}
	x.Intent = intent.Draft{Kind: kind, TargetChain: "eip155:8453"}
	if kind != intent.KindCall {
		x.Intent.Pay, x.Intent.Receive = &intent.Pay{Asset: "ob:usdc"}, &intent.Receive{Asset: "ob:eth"}
	}
	return x
}

func TestEveryStateOfAnOperationHasWordsOfItsOwn(t *testing.T) {
	seen := map[string]flow.State{}
	for _, state := range presenttest.States(t) {
		if state == flow.StatePreparing || state == flow.StateExecuting { // as a draft, and as one that was sent
			continue
		}
		x := stateOf(operation(state, intent.KindCall, ""))
		if x.Word == "" || !strings.HasSuffix(x.Sentence, ".") || seen[x.Word] != "" {
			t.Errorf("%s: %+v", state, x)
		}
		seen[x.Word] = state
	}
}

func TestEveryStatusHasWordsAndAnUnknownOneIsNoEnd(t *testing.T) {
	seen := map[string]bool{}
	for _, status := range presenttest.Statuses(t) {
		x := stateOf(operation(flow.StateAccepted, intent.KindCall, status))
		if !strings.HasSuffix(x.Sentence, ".") || seen[x.Word] || x.Meaning == present.Unknown {
			t.Errorf("%s: %+v", status, x)
		}
		if (x.Meaning == present.Good) != (status == api.StatusCompleted || status == api.StatusExecuted) {
			t.Errorf("%s is %d", status, x.Meaning)
		}
		seen[x.Word] = true
	}
	odd := stateOf(operation(flow.StateAccepted, intent.KindCall, "ESCAPED\x1b[31m"))
	if odd.Meaning != present.Unknown || strings.Contains(odd.Word, "\x1b") ||
		!strings.Contains(odd.Sentence, "It is taken as not ended") ||
		!strings.Contains(odd.Sentence, "Ask the operator of the service.") {
		t.Errorf("%+v", odd)
	}
}

func TestWhatWasSentAndNotAcceptedIsNeverSaidToBeUnsentUnsignedOrWithoutEffect(t *testing.T) {
	for _, kind := range []string{intent.KindCall, intent.KindSwap, intent.KindTransfer} {
		for _, state := range []flow.State{flow.StateQuoting, flow.StateReview1, flow.StateReview2,
			flow.StateAbandoned} {
			x := operation(state, kind, "")
			x.SignaturesDone, x.BodyHash = 0, strings.Repeat("ab", 32)
			got := stateOf(x).Sentence
			for _, lie := range []string{"never sent", "No payment is signed", "Nothing is signed. "} {
				if strings.Contains(got, lie) || !strings.Contains(got, "nothing shows that it was accepted") {
					t.Errorf("%s %s: %q", kind, state, got)
				}
			}
		}
	}
}

func TestPaymentsThatWereSignedAndNotSentAreNeverSaidToBeUnsigned(t *testing.T) {
	for _, state := range []flow.State{flow.StateQuoting, flow.StateReview1, flow.StateReview2, flow.StateAbandoned} {
		x := operation(state, intent.KindCall, "")
		x.Paid = true
		got := stateOf(x).Sentence
		if strings.Contains(got, "No payment is signed") || !strings.Contains(got, "signed and not sent") ||
			!strings.Contains(got, "outstanding signatures") {
			t.Errorf("%s: %q", state, got)
		}
	}
}

func TestSwapsAndTransfersHaveTheirOwnWords(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	x := operation(flow.StateReview2, intent.KindSwap, "")
	if got := present.Operation(c, x); got != "swap USDC for ETH" {
		t.Error(got)
	}
	x.Intent.Kind, x.Intent.Receive = intent.KindTransfer,
		&intent.Receive{Asset: "ob:usdc", Account: "eip155:8453:0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}
	if got := present.Operation(c, x); got != "transfer USDC to Base" {
		t.Error(got)
	}
	call := operation(flow.StateReview2, intent.KindCall, "")
	call.Intent.Calls = []intent.Call{{Function: "mint(uint256 n)"}}
	if got := present.Operation(c, call); got != "mint on Base" {
		t.Error(got)
	}
	for _, state := range presenttest.States(t) {
		for _, status := range append(presenttest.Statuses(t), "") {
			if s := stateOf(operation(state, intent.KindSwap, status)); s.Word == "" ||
				strings.Contains(s.Sentence, "call") {
				t.Errorf("%s %s: %+v", state, status, s)
			}
		}
	}
	unsigned := operation(flow.StateQuoting, intent.KindSwap, "")
	unsigned.SignaturesDone = 0
	a, b := stateOf(unsigned), stateOf(operation(flow.StateQuoting, intent.KindSwap, ""))
	if !strings.Contains(a.Sentence, "Nothing is signed") || strings.Contains(b.Sentence, "Nothing is signed") {
		t.Errorf("%q and %q", a.Sentence, b.Sentence)
	}
}

func TestAFrontEndsKeysAreNamedWhereItHasThem(t *testing.T) {
	x := operation(flow.StateQuoting, intent.KindCall, "")
	keys := present.Keys{Go: " (enter)", Abandon: " (x)", Bundle: " (b)"}
	got := present.StateOf(x, present.Live{Known: true, N: 1}, time.Time.String, keys).Sentence
	if !strings.Contains(got, "ask for a quote (enter), or abandon it (x).") {
		t.Error(got)
	}
	if got := stateOf(x).Sentence; strings.ContainsAny(got, "()") {
		t.Error(got)
	}
	if got := present.FailReason("NEW", keys); !strings.Contains(got, "Copy the support bundle (b)") {
		t.Error(got)
	}
}

// everyReason lists the reasons of the interface, confirmed and inferred, and those of its earlier version.
func everyReason() []string {
	return strings.Fields(
		`UNKNOWN SLIPPAGE AMOUNT_TOO_LOW_TO_REFUND DEPOSIT_ADDRESS_MISMATCH DEPOSIT_CHAIN_MISMATCH
		INCORRECT_DEPOSIT_CURRENCY DOUBLE_SPEND SOLVER_CAPACITY_EXCEEDED DEPOSITED_AMOUNT_TOO_LOW_TO_FILL
		NEGATIVE_NEW_AMOUNT_AFTER_FEES NO_QUOTES MISSING_REVERT_DATA REVERSE_SWAP_FAILED GENERATE_SWAP_FAILED
		TOO_LITTLE_RECEIVED EXECUTION_REVERTED NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE TRANSACTION_REVERTED
		ORIGIN_CURRENCY_MISMATCH NO_INTERNAL_SWAP_ROUTES_FOUND SWAP_USES_TOO_MUCH_GAS INSUFFICIENT_FUNDS_FOR_RENT
		ORDER_EXPIRED ORDER_IS_CANCELLED TRANSFER_FROM_FAILED TRANSFER_FAILED SIGNATURE_EXPIRED
		TRANSFER_AMOUNT_EXCEEDS_BALANCE INVALID_SIGNATURE INSUFFICIENT_NATIVE_TOKENS_SUPPLIED
		TRANSFER_AMOUNT_EXCEEDS_ALLOWANCE INVALID_SENDER ACCOUNT_ABSTRACTION_INVALID_NONCE
		ACCOUNT_ABSTRACTION_SIGNATURE_ERROR SEAPORT_INEXACT_FRACTION TOKEN_NOT_TRANSFERABLE ZERO_SELL_AMOUNT
		MINT_NOT_ACTIVE ERC_1155_TOO_MANY_REQUESTED INCORRECT_PAYMENT INVALID_GAS_PRICE FLUID_DEX_ERROR
		ORDER_ALREADY_FILLED SEAPORT_INVALID_FULFILLER INVALID_SIGNER MINT_QUANTITY_EXCEEDS_MAX_PER_WALLET
		MINT_QUANTITY_EXCEEDS_MAX_SUPPLY JUPITER_INVALID_TOKEN_ACCOUNT INSUFFICIENT_BALANCE TIMEOUT GAS_TOO_LOW
		EXECUTION_FAILED INSUFFICIENT_LIQUIDITY REVERTED PRICE_IMPACT_TOO_HIGH INVALID_PATH APPROVAL_FAILED
		NETWORK_CONGESTION N/A`)
}

func TestEveryReasonHasWordsAndSaysWhatToDo(t *testing.T) {
	for _, reason := range everyReason() {
		what, _ := present.RefundReason(reason)
		all := present.FailReason(reason, present.Keys{})
		if what == "" || strings.Contains(what, "_") || !strings.HasSuffix(what, ".") ||
			!strings.HasPrefix(all, what+" ") || !strings.HasSuffix(all, ".") {
			t.Errorf("%s: %q, %q", reason, what, all)
		}
	}
	if what, todo := present.RefundReason("SOMETHING_NEW"); what != "" || todo != "" {
		t.Errorf("words were made up for an unknown reason: %q, %q", what, todo)
	}
	if got := present.FailReason("", present.Keys{}); got != "" {
		t.Error(got)
	}
}

func TestSignaturesAreNamedInSigningOrder(t *testing.T) {
	x := operation(flow.StateReview2, intent.KindCall, "")
	x.Review1 = &verify.PreparedView{Chain: verify.ChainLabel{Name: "Base"},
		Delegation: &verify.DelegationView{Chain: verify.ChainLabel{Name: "Base"}}}
	x.Review2 = &verify.QuoteView{Legs: []verify.LegView{{Chain: verify.ChainLabel{Name: "Optimism"}},
		{Chain: verify.ChainLabel{Name: "Base"},
			Delegation: &verify.DelegationView{Chain: verify.ChainLabel{Name: "Base"}}}}}
	want := "the delegation of your EOA on Base, the call on Base, payment on Optimism, " +
		"the delegation of your EOA on Base, payment on Base"
	if got := strings.Join(present.SignatureNames(x), ", "); got != want {
		t.Error(got)
	}
}
