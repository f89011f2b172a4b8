package solrpc_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/chain/solana/solrpc"
	"coffer/api/service/store"
)

// in is an answer with its context.
func in(slot uint64, value string) string {
	return fmt.Sprintf(`{"context":{"slot":%d,"apiVersion":"4.3.0"},"value":%s}`, slot, value)
}

func TestReadsHaveTheShapesOfANode(t *testing.T) {
	w := newWorld(t)
	slot := w.Slot(w.at.Load())
	alice, bob, tokens := w.alice.Key().String(), w.bob.Key().String(), ata(t, w.alice.Key(), w.mint).String()
	hash, last := w.RecentHash(w.at.Load())
	const amount = `{"amount":"1000000000","decimals":6,"uiAmount":1000,"uiAmountString":"1000"}`
	parsed := `{"lamports":2039280,"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",` +
		`"data":{"program":"spl-token",` +
		`"parsed":{"type":"account","info":{"isNative":false,"mint":"` + w.mint.String() + `","owner":"` + alice +
		`","state":"initialized","tokenAmount":` + amount + `}},"space":165},"executable":false,"rentEpoch":0,` +
		`"space":165}`
	simple := func(data string) string {
		return `{"lamports":10000000000,"owner":"11111111111111111111111111111111","data":` + data +
			`,"executable":false,"rentEpoch":0,"space":0}`
	}
	w.equal(t, [][3]string{
		{"getSlot", `[]`, "2500"},
		{"getBlockHeight", `[{"commitment":"confirmed"}]`, "2500"},
		{"getLatestBlockhash", `[{"commitment":"finalized"}]`, in(slot,
			fmt.Sprintf(`{"blockhash":"%s","lastValidBlockHeight":%d}`, hash, last))},
		{"isBlockhashValid", `["` + hash.String() + `"]`, in(slot, "true")},
		{"isBlockhashValid", `["` + bob + `"]`, in(slot, "false")},
		{"getEpochInfo", `[]`, `{"absoluteSlot":2500,"blockHeight":2500,"epoch":0,"slotIndex":2500,` +
			`"slotsInEpoch":432000,` +
			`"transactionCount":0}`},
		{"getBlockTime", `[2500]`, "1704068200"},
		{"getBlockTime", `[2501]`, `{"code":-32004,"message":"Block not available for slot 2501"}`},
		{"getGenesisHash", `[]`, `"` + w.Genesis().String() + `"`},
		{"getHealth", `[]`, `"ok"`},
		{"getVersion", `[]`, `{"feature-set":0,"solana-core":"4.3.0"}`},
		{"getSupply", `[]`, in(slot, `{"circulating":1000010003500880,"nonCirculating":0,"nonCirculatingAccounts":[],`+
			`"total":1000010003500880}`)},
		{"getRecentPrioritizationFees", `[["` + bob + `"]]`, `[]`},
		{"getMinimumBalanceForRentExemption", `[165]`, "2039280"},
		{"getBalance", `["` + alice + `",{"commitment":"processed"}]`, in(slot, "10000000000")},
		{"getBalance", `["` + bob + `"]`, in(slot, "0")},
		{"getAccountInfo", `["` + bob + `"]`, in(slot, "null")},
		{"getAccountInfo", `["` + alice + `"]`, in(slot, simple(`""`))},
		{"getAccountInfo", `["` + alice + `",{"encoding":"base58"}]`, in(slot, simple(`["","base58"]`))},
		{"getAccountInfo", `["` + alice + `",{"encoding":"jsonParsed"}]`, in(slot, simple(`["","base64"]`))},
		{"getAccountInfo", `["` + tokens + `",{"encoding":"jsonParsed"}]`, in(slot, parsed)},
		{"getAccountInfo", `["` + tokens + `",{"encoding":"base64","dataSlice":{"offset":64,"length":8}}]`, in(slot,
			`{"lamports":2039280,"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","data":["AMqaOwAAAAA=",`+
				`"base64"],`+
				`"executable":false,"rentEpoch":0,"space":165}`)},
		{"getAccountInfo", `["` + tokens + `",{"encoding":"base58"}]`, `{"code":-32600,"message":"Encoded ` +
			`binary (base 58) ` +
			`data should be less than 128 bytes, please use Base64 encoding."}`},
		{"getAccountInfo", `["` + solmsg.TokenProgram().String() + `",{"encoding":"base64"}]`, in(slot,
			`{"lamports":0,"owner":"BPFLoader2111111111111111111111111111111111","data":["","base64"],`+
				`"executable":true,`+
				`"rentEpoch":0,"space":0}`)},
		{"getMultipleAccounts", `[["` + bob + `","` + alice + `"],{"encoding":"base64"}]`,
			in(slot, `[null,`+simple(`["","base64"]`)+`]`)},
		{"getTokenAccountsByOwner", `["` + alice + `",{"mint":"` + w.mint.String() + `"},{"encoding":"jsonParsed"}]`,
			in(slot, `[{"pubkey":"`+tokens+`","account":`+parsed+`}]`)},
		{"getTokenAccountsByOwner", `["` + bob + `",{"programId":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"}]`,
			in(slot, `[]`)},
		{"getTokenAccountsByOwner", `["` + bob + `",{"mint":"` + bob + `"}]`,
			`{"code":-32602,"message":"Invalid param: could not find mint"}`},
		{"getTokenAccountBalance", `["` + tokens + `"]`, in(slot, amount)},
		{"getTokenAccountBalance", `["` + alice + `"]`, `{"code":-32602,"message":"Invalid param: not a Token ` +
			`account"}`},
		{"getTokenSupply", `["` + w.mint.String() + `"]`, in(slot, amount)},
		{"getTokenSupply", `["` + bob + `"]`, `{"code":-32602,"message":"Invalid param: could not find account"}`},
		{"getSignatureStatuses", `[["` + strings.Repeat("1", 64) + `"]]`, in(slot, "[null]")},
		{"getSignaturesForAddress", `["` + alice + `"]`, "[]"},
		{"getTransaction", `["` + strings.Repeat("1", 64) + `"]`, "null"},
	})
}

func TestBadParametersAreNamed(t *testing.T) {
	w := newWorld(t)
	alice := `"` + w.alice.Key().String() + `"`
	w.equal(t, [][3]string{
		{"getBalance", `[]`, `{"code":-32602,"message":"missing value for required argument 0"}`},
		{"getBalance", `["abc"]`, `{"code":-32602,"message":"Invalid param: WrongSize"}`},
		{"getBalance", `["0OIl"]`, `{"code":-32602,"message":"Invalid param: Invalid"}`},
		{"getBalance", `[` + alice + `,{"commitment":"soon"}]`,
			`{"code":-32602,"message":"Invalid param: unknown commitment \"soon\""}`},
		{"getBalance", `[` + alice + `,{"minContextSlot":2501}]`,
			`{"code":-32016,"message":"Minimum context slot has not been reached","data":{"contextSlot":2500}}`},
		{"getAccountInfo", `[` + alice + `,{"encoding":"base64+zstd"}]`, `{"code":-32602,"message":"Invalid ` +
			`param: the ` +
			`encoding \"base64+zstd\" is not served; use base64, base58 or jsonParsed"}`},
		{"getMinimumBalanceForRentExemption", `[10485761]`,
			`{"code":-32602,"message":"Invalid param: an account has at most 10485760 bytes of data"}`},
		{"getSignaturesForAddress", `[` + alice + `,{"limit":1001}]`, `{"code":-32602,"message":"Invalid ` +
			`limit; max 1000"}`},
		{"getSignaturesForAddress", `[` + alice + `,{"commitment":"processed"}]`,
			`{"code":-32602,"message":"Method does not support commitment below ` + "`confirmed`" + `"}`},
		{"getTransaction", `["abc"]`, `{"code":-32602,"message":"Invalid param: WrongSize"}`},
		{"slotSubscribe", `[]`, `{"code":-32601,"message":"notifications not supported"}`},
		{"sendTransaction", `["` + strings.Repeat("A", 1_645) + `",{"encoding":"base64"}]`, `{"code":-32602,` +
			`"message":` +
			`"base64 encoded solana_transaction::versioned::VersionedTransaction too large: 1645 bytes (max: ` +
			`encoded/raw ` +
			`1644/1232)"}`},
		{"sendTransaction", `["AQ==",{"encoding":"base64"}]`, `{"code":-32602,"message":"failed to deserialize ` +
			`solana_transaction::versioned::VersionedTransaction: io error: unexpected end of file"}`},
		{"simulateTransaction", `["",{"sigVerify":true,"replaceRecentBlockhash":true}]`,
			`{"code":-32602,"message":"sigVerify may not be used with replaceRecentBlockhash"}`},
	})
	many := `["` + strings.Repeat("1", 64) + `"` + strings.Repeat(`,"`+strings.Repeat("1", 64)+`"`, 256) + `]`
	if got := w.ask(t.Context(), t, "getSignatureStatuses", `[`+many+`]`); !strings.Contains(got, "max 256") {
		t.Error(got)
	}
}

func TestTransactionsAreShownWithTheBalancesOfAllAccounts(t *testing.T) {
	w := newWorld(t)
	a, b := w.alice.Key(), w.bob.Key()
	from, to := ata(t, a, w.mint), ata(t, b, w.mint)
	name := w.send(t, w.alice, solmsg.CreateATAIdempotent(a, b, w.mint),
		solmsg.TokenTransferChecked(from, w.mint, to, a, 2_500_000, 6), solmsg.Memo("rent"))
	var tx struct {
		Slot, BlockTime uint64
		Version         any
		Transaction     struct {
			Signatures []string
			Message    struct {
				AccountKeys  []struct{ Pubkey string }
				Instructions []struct {
					Program string
					Parsed  any
				}
			}
		}
		Meta struct {
			Fee                                 uint64
			PreBalances, PostBalances           []uint64
			PreTokenBalances, PostTokenBalances []struct {
				AccountIndex  int
				UITokenAmount struct{ Amount string }
			}
			InnerInstructions []struct {
				Index        int
				Instructions []struct{ Parsed struct{ Type string } }
			}
			LogMessages []string
		}
	}
	text := w.ask(t.Context(), t, "getTransaction", `["`+name+`",{"encoding":"jsonParsed",`+
		`"maxSupportedTransactionVersion":0}]`)
	if err := json.Unmarshal([]byte(text), &tx); err != nil {
		t.Fatal(err)
	}
	lamports := map[string][2]uint64{}
	tokens := map[string][2]string{}
	keys := tx.Transaction.Message.AccountKeys
	for i, k := range keys {
		lamports[k.Pubkey] = [2]uint64{tx.Meta.PreBalances[i], tx.Meta.PostBalances[i]}
	}
	for _, v := range tx.Meta.PreTokenBalances {
		tokens[keys[v.AccountIndex].Pubkey] = [2]string{v.UITokenAmount.Amount}
	}
	for _, v := range tx.Meta.PostTokenBalances {
		was := tokens[keys[v.AccountIndex].Pubkey]
		tokens[keys[v.AccountIndex].Pubkey] = [2]string{was[0], v.UITokenAmount.Amount}
	}
	for k, want := range map[solmsg.Key][2]uint64{
		a: {10e9, 10e9 - 5_000 - 2_039_280}, b: {}, from: {2_039_280, 2_039_280}, to: {0, 2_039_280},
		w.mint: {1_461_600, 1_461_600}, solmsg.TokenProgram(): {},
	} {
		if got, found := lamports[k.String()]; !found || got != want {
			t.Errorf("%s had and has %d lamports, want %d", k, got, want)
		}
	}
	if got := tokens[from.String()]; got != [2]string{"1000000000", "997500000"} {
		t.Errorf("alice's tokens: %v", got)
	}
	if got := tokens[to.String()]; got != [2]string{"", "2500000"} {
		t.Errorf("bob's tokens: %v", got)
	}
	if got := marshal(t, tx.Transaction.Message.Instructions[1]); got != `{"Program":"spl-token","Parsed":{"info":{`+
		`"authority":"`+a.String()+`","destination":"`+to.String()+`","mint":"`+w.mint.String()+`","source":"`+
		from.String()+`","tokenAmount":{"amount":"2500000","decimals":6,"uiAmount":2.5,"uiAmountString":"2.5"}},`+
		`"type":"transferChecked"}}` {
		t.Error(got)
	}
	if got := tx.Transaction.Message.Instructions[2]; got.Program != "spl-memo" || got.Parsed != "rent" {
		t.Errorf("%+v", got)
	}
	if in := tx.Meta.InnerInstructions; len(in) != 1 || in[0].Index != 0 ||
		in[0].Instructions[1].Parsed.Type != "createAccount" {
		t.Errorf("%+v", in)
	}
	if tx.BlockTime != w.at.Load() || tx.Slot != w.Slot(w.at.Load()) || tx.Version == nil || tx.Meta.Fee != 5_000 ||
		tx.Transaction.Signatures[0] != name ||
		tx.Meta.LogMessages[0] != "Program "+solmsg.ATAProgram().String()+" invoke [1]" {
		t.Errorf("%+v", tx)
	}
	if got := w.ask(t.Context(), t, "getSignaturesForAddress", `["`+b.String()+`",{"limit":1}]`); got != fmt.Sprintf(
		`[{"signature":"%s","slot":%d,"err":null,"memo":"[4] rent","blockTime":%d,`+
			`"confirmationStatus":"finalized"}]`, name,
		tx.Slot, w.at.Load()) {
		t.Error(got)
	}
}

func TestATransactionComesBackAsItWasSent(t *testing.T) {
	w := newWorld(t)
	wire := w.wire(t, w.alice, solmsg.Memo("x"))
	w.ask(t.Context(), t, "sendTransaction", `["`+wire+`",{"encoding":"base64"}]`)
	all, err := w.History(w.alice.Key(), nil, nil, 1)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	got := w.ask(t.Context(), t, "getTransaction", `["`+all[0].Signature+`",{"encoding":"base64",`+
		`"maxSupportedTransactionVersion":0}]`)
	if !strings.Contains(got, `"transaction":["`+wire+`","base64"]`) {
		t.Error(got)
	}
	got = w.ask(t.Context(), t, "getTransaction", `["`+all[0].Signature+`"]`)
	if !strings.HasPrefix(got, `{"code":-32015,`) {
		t.Errorf("a client that did not say it reads version 0: %s", got)
	}
}

// Receipts of earlier versions of this program lack the balances: their meta is null, not wrong.
func TestBalancesThatWereNotKeptAreNull(t *testing.T) {
	w := newWorld(t)
	name := w.send(t, w.alice, solmsg.Memo("x"))
	r, _, err := w.Receipt(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	r.Number, r.Pre, r.Post, r.Success, r.Error, r.Instruction = 0, nil, nil, false, "it failed", 0
	sig, _ := solmsg.ParseSignature(name)
	err = w.store.Update(func(tx store.Tx) error {
		return tx.Bucket("solana/transactions").Put(sig[:], append([]byte{1}, marshal(t, r)...))
	})
	if err != nil {
		t.Fatal(err)
	}
	got := w.ask(t.Context(), t, "getTransaction", `["`+name+`",{"maxSupportedTransactionVersion":0}]`)
	if !strings.Contains(got, `"meta":null`) {
		t.Error(got)
	}
	if got := w.ask(t.Context(), t, "getSignatureStatuses", `[["`+name+`"]]`); !strings.Contains(got,
		`"err":{"InstructionError":[0,"GenericError"]}`) {
		t.Error(got)
	}
}

func TestPreflightRefusesWithTheWholeSimulation(t *testing.T) {
	w := newWorld(t)
	a, b := w.alice.Key(), w.bob.Key()
	send := func(wire, options string) string {
		return w.ask(t.Context(), t, "sendTransaction", `["`+wire+`",{"encoding":"base64"`+options+`}]`)
	}
	tooMuch := w.wire(t, w.alice, solmsg.SystemTransfer(a, b, 11e9))
	const failed = `{"code":-32002,"message":"Transaction simulation failed: Error processing Instruction 0: ` +
		`custom program ` +
		`error: 0x1","data":{"err":{"InstructionError":[0,{"Custom":1}]},"logs":["Program ` +
		`11111111111111111111111111111111 ` +
		`invoke [1]","Transfer: insufficient lamports 9999995000, need 11000000000","Program ` +
		`11111111111111111111111111111111 failed: custom program error: 0x1"],"accounts":null,"unitsConsumed":3000,` +
		`"returnData":null,"innerInstructions":null,"replacementBlockhash":null}}`
	if got := send(tooMuch, ""); got != failed {
		t.Errorf("above the balance: %s", got)
	}
	if w.Transactions() != 0 {
		t.Error("preflight included the transaction")
	}
	refused := func(name, got, text, fault string) {
		t.Helper()
		want := `{"code":-32002,"message":"Transaction simulation failed: ` + text + `",` +
			`"data":{"err":` + fault + `,"logs":[]`
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	refused("an account without lamports", send(w.wire(t, w.bob, solmsg.Memo("x")), ""),
		"Attempt to debit an account but found no record of a prior credit.", `"AccountNotFound"`)
	old := w.wire(t, w.alice, solmsg.Memo("x"))
	w.at.Add(70)
	refused("an old block hash", send(old, ""), "Blockhash not found", `"BlockhashNotFound"`)
	unknown := solmsg.Build{Program: solmsg.Key{9, 9}}
	refused("an unknown program", send(w.wire(t, w.alice, unknown), ""),
		"Attempt to load a program that does not exist", `"ProgramAccountNotFound"`)
	good := w.wire(t, w.alice, solmsg.SystemTransfer(a, b, rent))
	if got := send(good, ""); len(got) < 80 || got[0] != '"' {
		t.Fatal(got)
	}
	refused("the same again", send(good, ""), "This transaction has already been processed", `"AlreadyProcessed"`)
	forged, err := base64.StdEncoding.DecodeString(w.wire(t, w.alice, solmsg.Memo("y")))
	if err != nil {
		t.Fatal(err)
	}
	forged[1] ^= 1
	if got := send(base64.StdEncoding.EncodeToString(forged), ""); got != `{"code":-32003,`+
		`"message":"Transaction signature verification failure"}` {
		t.Errorf("a wrong signature: %s", got)
	}
}

func TestWithoutPreflightATransactionMayFailForItsFee(t *testing.T) {
	w := newWorld(t)
	a, b := w.alice.Key(), w.bob.Key()
	send := func(wire string) string {
		return w.ask(t.Context(), t, "sendTransaction", `["`+wire+`",{"encoding":"base64","skipPreflight":true}]`)
	}
	wire := w.wire(t, w.alice, solmsg.SystemTransfer(a, b, 11e9))
	name := send(wire)
	got := w.ask(t.Context(), t, "getSignatureStatuses", `[[`+name+`]]`)
	const fault = `{"InstructionError":[0,{"Custom":1}]}`
	if got != in(w.Slot(w.at.Load()), fmt.Sprintf(`[{"slot":%d,"confirmations":null,"err":%s,"status":{"Err":%s},`+
		`"confirmationStatus":"finalized"}]`, w.Slot(w.at.Load()), fault, fault)) {
		t.Error(got)
	}
	if got := w.ask(t.Context(), t, "getBalance", `["`+a.String()+`"]`); got != in(w.Slot(w.at.Load()), "9999995000") {
		t.Error(got)
	}
	if again := send(wire); again != name || w.Transactions() != 1 {
		t.Errorf("the same again: %s, %d transactions", again, w.Transactions())
	}
}

func TestSimulationChangesNothing(t *testing.T) {
	w := newWorld(t)
	a, b := w.alice.Key(), w.bob.Key()
	m, err := solmsg.Compose(a, solmsg.Key{1}, solmsg.SystemTransfer(a, b, 2e9), solmsg.Memo("x"))
	if err != nil {
		t.Fatal(err)
	}
	wire := encoded(solana.Unsigned(m))
	simulate := func(options string) string {
		return w.ask(t.Context(), t, "simulateTransaction", `["`+wire+`",{"encoding":"base64"`+options+`}]`)
	}
	if got := simulate(""); !strings.Contains(got, `"err":"BlockhashNotFound","logs":[]`) {
		t.Error(got)
	}
	if got := simulate(`,"sigVerify":true`); !strings.HasPrefix(got, `{"code":-32003,`) {
		t.Error(got)
	}
	hash, last := w.RecentHash(w.at.Load())
	want := in(w.Slot(w.at.Load()), fmt.Sprintf(`{"err":null,"logs":["Program 11111111111111111111111111111111 `+
		`invoke [1]",`+
		`"Program 11111111111111111111111111111111 success","Program %s invoke [1]","Program log: Memo (len 1)",`+
		`"Program log: x","Program %s success"],"accounts":[{"lamports":2000000000,"owner":`+
		`"11111111111111111111111111111111","data":["","base64"],"executable":false,"rentEpoch":0,"space":0}],`+
		`"unitsConsumed":203000,"returnData":null,"innerInstructions":[],"replacementBlockhash":{"blockhash":"%s",`+
		`"lastValidBlockHeight":%d}}`, solmsg.MemoProgram(), solmsg.MemoProgram(), hash, last))
	if got := simulate(`,"replaceRecentBlockhash":true,"innerInstructions":true,` +
		`"accounts":{"addresses":["` + b.String() +
		`"]}`); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if w.Transactions() != 0 {
		t.Error("a simulation was included")
	}
}

func TestTheFeeOfAMessageIsUnknownWithAnOldHash(t *testing.T) {
	w := newWorld(t)
	a := w.alice.Key()
	hash, _ := w.RecentHash(w.at.Load())
	m, err := solmsg.Compose(a, hash, solmsg.Memo("x", w.bob.Key()))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.ask(t.Context(), t, "getFeeForMessage", `["`+m.Base64()+`"]`); got != in(2500, "10000") {
		t.Error(got)
	}
	w.at.Add(1_000)
	if got := w.ask(t.Context(), t, "getFeeForMessage", `["`+m.Base64()+`"]`); got != in(5000, "null") {
		t.Error(got)
	}
}

func TestAirdropsAreTransactionsOfTheFaucet(t *testing.T) {
	w := newWorld(t)
	names := map[string]bool{}
	for range 3 {
		names[w.ask(t.Context(), t, "requestAirdrop", `["`+w.bob.Key().String()+`",1000000000]`)] = true
	}
	if len(names) != 3 || w.Transactions() != 3 {
		t.Errorf("%v, %d transactions", names, w.Transactions())
	}
	got := w.ask(t.Context(), t, "getBalance", `["`+w.bob.Key().String()+`"]`)
	if got != in(w.Slot(w.at.Load()), "3000000000") {
		t.Error(got)
	}
	if got := w.ask(t.Context(), t, "requestAirdrop", `["`+solmsg.Key{5}.String()+`",1]`); !strings.HasPrefix(got,
		`{"code":-32603,"message":"airdrop request failed: `) {
		t.Errorf("less than the rent of an account: %s", got)
	}
	if got := w.ask(t.Context(), t, "requestAirdrop", `["`+w.bob.Key().String()+`",`+
		`9000000000000000]`); !strings.Contains(got,
		"-32603") {
		t.Errorf("more than the faucet has: %s", got)
	}
}

// yields counts who yields.
type yields struct {
	store.Store
	n int
}

func (s *yields) YieldToWriter() { s.n++ }

func TestEveryMethodYieldsToAWriterFirst(t *testing.T) {
	w := newWorld(t)
	s := &yields{Store: w.store}
	l, err := solana.Reopen(s, genesisTime)
	if err != nil {
		t.Fatal(err)
	}
	for name, method := range solrpc.Methods(l, solrpc.Options{Clock: time.Now, Airdrop: solrpc.AirdropFrom(l, w.faucet,
		time.Now)}) {
		s.n = 0
		if _, _ = method(t.Context(), nil); s.n == 0 {
			t.Errorf("%s does not", name)
		}
	}
}

// A client waits until the height has passed the last valid one: from then on its transaction can never be included.
func TestABlockhashIsValidUntilItsLastHeight(t *testing.T) {
	w := newWorld(t)
	hash, last := w.RecentHash(w.at.Load())
	m, err := solmsg.Compose(w.alice.Key(), hash, solmsg.Memo("late"))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := solana.Sign(t.Context(), m, w.alice)
	if err != nil {
		t.Fatal(err)
	}
	for range 70 {
		w.at.Add(1)
		slot := w.Slot(w.at.Load())
		valid := w.ask(t.Context(), t, "isBlockhashValid", `["`+hash.String()+`"]`)
		if valid != in(slot, strconv.FormatBool(slot <= last)) {
			t.Errorf("height %d, last valid %d: %s", slot, last, valid)
		}
		got := w.ask(t.Context(), t, "simulateTransaction", `["`+encoded(tx)+`",{"encoding":"base64"}]`)
		if strings.Contains(got, `"err":null`) != (slot <= last) {
			t.Errorf("height %d, last valid %d: %s", slot, last, got)
		}
	}
}
