package feeds

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"coffer/api/networks"
)

// Whatever a node says is a feed's round, a price is positive, between the bounds and of its time, or there is none.
func FuzzRound(f *testing.F) {
	words := func(v ...int64) (out []byte) {
		for _, n := range v {
			out = append(out, new(big.Int).SetInt64(n).FillBytes(make([]byte, 32))...)
		}
		return out
	}
	now := time.Unix(1_760_000_000, 0)
	f.Add(words(5, 2_500e8, now.Unix(), now.Unix(), 5), 8, int64(1), int64(1e15))
	f.Add(words(5, 1, 0, now.Unix(), 5), 18, int64(1), int64(1))
	f.Add(bytes.Repeat([]byte{0xff}, 160), 0, int64(-1), int64(0))
	f.Add([]byte{1}, 77, int64(0), int64(0))
	f.Fuzz(func(t *testing.T, out []byte, decimals int, low, high int64) {
		r := parseRound(out, nil)
		if r.problem != "" {
			return
		}
		e := networks.Feed{Heartbeat: time.Hour, Decimals: decimals & 63}
		k := facts{decimals: e.Decimals, min: big.NewInt(low), max: big.NewInt(high)}
		v, problem := r.price(k, e, now)
		age := now.Sub(r.updated)
		switch {
		case (v == nil) == (problem == ""):
			t.Fatalf("%v, %q", v, problem)
		case v != nil && (v.Sign() <= 0 || r.answer.Cmp(k.min) <= 0 || r.answer.Cmp(k.max) >= 0 ||
			age > time.Hour+lag || age < -ahead):
			t.Fatalf("%v of round %+v", v, r)
		}
		_, _ = r.phase(), uptime(r, "Base", now)
	})
}

// A proxy puts its phase above the number of the round.
func TestTheWordsOfARound(t *testing.T) {
	raw, err := hex.DecodeString("" +
		"0000000000000000000000000000000000000000000000070000000000006bcd" +
		"00000000000000000000000000000000000000000000000000000043a1b9c3e0" +
		"0000000000000000000000000000000000000000000000000000000068e77800" +
		"0000000000000000000000000000000000000000000000000000000068e77817" +
		"0000000000000000000000000000000000000000000000070000000000006bcd")
	if err != nil {
		t.Fatal(err)
	}
	r := parseRound(raw, nil)
	if r.problem != "" || r.phase() != 7 || r.answer.Int64() != 0x43a1b9c3e0 || r.updated.Unix() != 0x68e77817 {
		t.Errorf("%+v", r)
	}
}
