package solnode

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
)

// sent is a transaction of a made-up key.
func sent(t testing.TB) solana.Tx {
	t.Helper()
	m, err := solmsg.Compose(solmsg.Key{7}, solmsg.Key{8}, solmsg.SystemTransfer(solmsg.Key{7}, solmsg.Key{9}, 5))
	if err != nil {
		t.Fatal(err)
	}
	return solana.Tx{Message: m.Bytes(), Signatures: [][64]byte{{1, 2, 3}}, LastHeight: 100}
}

// What a node says of a transaction is about that transaction, or it is no answer.
func TestOnlyTheTransactionItselfIsReadAsLanded(t *testing.T) {
	tx := sent(t)
	own := base64.StdEncoding.EncodeToString(Wire(tx))
	for answer, want := range map[string]string{
		`{"slot":5,"transaction":["` + own + `","base64"],"meta":{"err":null,"fee":5000}}`: "",
		`{"slot":5,"transaction":["` + own + `","base64"],"meta":{"err":{"InstructionError":[0,{"Custom":1}]},` +
			`"fee":5000}}`: "Error processing Instruction 0: custom program error: 0x1",
	} {
		var w wireLanded
		if err := json.Unmarshal([]byte(answer), &w); err != nil {
			t.Fatal(err)
		}
		r, err := w.read(tx)
		if err != nil || r.Error != want || r.Success != (want == "") || r.Fee != 5000 || r.Slot != 5 ||
			r.Signature != tx.Name() {
			t.Errorf("%+v, %v", r, err)
		}
	}
	other := tx
	other.Signatures = [][64]byte{{9}}
	for _, answer := range []string{
		`{}`, `{"slot":5,"transaction":["` + own + `","base64"]}`,
		`{"slot":5,"transaction":["` + own + `","base58"],"meta":{"err":null,"fee":1}}`,
		`{"slot":5,"transaction":["` + base64.StdEncoding.EncodeToString(Wire(other)) +
			`","base64"],"meta":{"err":null}}`,
		`{"slot":5,"transaction":["` + own + `","base64"],"meta":{"err":7,"fee":1}}`,
	} {
		var w wireLanded
		if err := json.Unmarshal([]byte(answer), &w); err != nil {
			t.Fatal(err)
		}
		if r, err := w.read(tx); err == nil {
			t.Errorf("%s is read as %+v", answer, r)
		}
	}
}

// The last height of a block hash is never below the one that follows from what the chain has reached.
func TestABlockHashLivesAsLongAsTheChainSays(t *testing.T) {
	for _, c := range []struct{ said, reached, want uint64 }{
		{1150, 1000, 1150}, {1145, 1000, 1150}, {1160, 1000, 1160}, {3, 1000, 1150}, {1 << 60, 1000, 0},
		{5, 1<<64 - 1, 0},
	} {
		var w wireHash
		w.Value.Blockhash, w.Value.LastHeight = solmsg.Key{3}.String(), c.said
		if _, got, err := w.read(c.reached); got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}

func TestAPriceIsThatOfNineBlocksInTen(t *testing.T) {
	of := func(fees ...uint64) (out []wirePrice) {
		for _, f := range fees {
			out = append(out, wirePrice{f})
		}
		return out
	}
	for _, c := range []struct {
		blocks []wirePrice
		want   uint64
	}{{nil, 1_000}, {of(0, 0, 0), 1_000}, {of(5_000), 5_000}, {of(1, 9_000, 2, 3, 4, 5, 6, 7, 8, 7_000), 7_000}} {
		if got := priceOf(c.blocks); got != c.want {
			t.Errorf("%v: %d, not %d", c.blocks, got, c.want)
		}
	}
}

// Whatever a node answers to questions about a transaction, it is read as what was asked for or refused.
func FuzzLanding(f *testing.F) {
	own := base64.StdEncoding.EncodeToString(Wire(sent(f)))
	f.Add(`{"slot":5,"transaction":["`+own+`","base64"],"meta":{"err":null,"fee":5000}}`, uint64(5))
	f.Add(`{"slot":5,"transaction":["`+own+`","base64"],"meta":{"err":{"InstructionError":[0,"X"]},"fee":1}}`,
		uint64(5))
	f.Add(`{"value":{"blockhash":"`+solmsg.Key{3}.String()+`","lastValidBlockHeight":7}}`, uint64(9))
	f.Add(`[{"signature":"`+sent(f).Name()+`","slot":7,"err":null}]`, uint64(0))
	f.Add(`[{"prioritizationFee":18446744073709551615},{"slot":1}]`, uint64(0))
	f.Fuzz(func(t *testing.T, answer string, height uint64) {
		raw, tx := []byte(answer), sent(t)
		var landed wireLanded
		if json.Unmarshal(raw, &landed) == nil {
			r, err := landed.read(tx)
			if err == nil &&
				(r.Signature != tx.Name() || r.Success != (r.Fault == nil) || strings.ContainsRune(r.Error, 0)) {
				t.Fatalf("%q is read as %+v", answer, r)
			}
			if err != nil && !errors.Is(err, errForm) {
				t.Fatal(err)
			}
		}
		var hash wireHash
		if json.Unmarshal(raw, &hash) == nil {
			if _, last, err := hash.read(height); err == nil && (last < height || last-height > 2*hashHeights) {
				t.Fatalf("%q lives until %d at %d", answer, last, height)
			}
		}
		var list []wireEntry
		if json.Unmarshal(raw, &list) == nil && wellFormed(list, 1) && (len(list) > 1 || len(list) == 1 &&
			len(list[0].Signature) < 64) {
			t.Fatalf("%q is a list of transactions", answer)
		}
		var prices []wirePrice
		if json.Unmarshal(raw, &prices) == nil && priceOf(prices) < leastPrice {
			t.Fatalf("%q costs %d", answer, priceOf(prices))
		}
	})
}
