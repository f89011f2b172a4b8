package service_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/store/storetest"
)

// shaky is a node whose newest block leaves the chain under the questions about it.
type shaky struct {
	mu     sync.Mutex
	after  int  // so many more requests about a block; 0 is never
	torn   bool // the first answer about it still comes
	always bool
	moves  func() // makes the chain go on with another block
	gone   map[string]bool
	taken  int // blocks
}

// leaves has the block of the n-th next request leave the chain.
func (s *shaky) leaves(n int, torn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.after, s.torn = n, torn; n > 0 {
		s.taken = 0
	}
}

// took is how many blocks have left since.
func (s *shaky) took() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// block is the one that a call names; "" for a call that names none by its hash.
func block(params []json.RawMessage) string {
	var at struct{ BlockHash string }
	if len(params) == 0 || json.Unmarshal(params[len(params)-1], &at) != nil {
		return ""
	}
	return at.BlockHash
}

func (s *shaky) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		type call struct {
			ID     json.RawMessage   `json:"id"`
			Method string            `json:"method"`
			Params []json.RawMessage `json:"params"`
		}
		var calls []call
		if json.Unmarshal(body, &calls) != nil {
			calls = make([]call, 1)
			_ = json.Unmarshal(body, &calls[0])
		}
		lost := map[string]bool{} // by id
		s.mu.Lock()
		about := slices.DeleteFunc(calls, func(c call) bool { return block(c.Params) == "" })
		if len(about) > 0 && !s.gone[block(about[0].Params)] && s.after > 0 {
			if s.after--; s.after == 0 {
				s.gone[block(about[0].Params)] = true
				s.taken++
				s.moves()
				if s.always {
					s.after = 1
				}
				if s.torn {
					about = about[1:]
				}
			}
		}
		for _, c := range about {
			lost[string(c.ID)] = s.gone[block(c.Params)]
		}
		s.mu.Unlock()
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		type answer struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result,omitempty"`
			Error   any             `json:"error,omitempty"`
		}
		var answers []answer
		raw := rec.Body.Bytes()
		single := json.Unmarshal(raw, &answers) != nil
		if single {
			answers = make([]answer, 1)
			_ = json.Unmarshal(raw, &answers[0])
		}
		for i, a := range answers {
			if lost[string(a.ID)] {
				answers[i].Result, answers[i].Error = nil, map[string]any{"code": -32000, "message": "header not found"}
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if single {
			_ = json.NewEncoder(w).Encode(answers[0])
		} else {
			_ = json.NewEncoder(w).Encode(answers)
		}
	})
}

// TestABlockThatLeavesUnderAQuestionBeginsItAgain: whichever of a service's reads finds that its block has left the
// chain, what was asked is answered from the blocks that are there then.
func TestABlockThatLeavesUnderAQuestionBeginsItAgain(t *testing.T) {
	t.Parallel()
	node := &shaky{gone: map[string]bool{}, moves: func() {}}
	l := newLab(t, node.wrap, 8453)
	s := l.fuel(open(t, l.options(storetest.New(t))))
	c := newClient(t, s, api.AccountKernelV33, 61)
	l.stock(8453, c.user.Address, 100_000_000)
	node.moves = func() { l.sent(8453, common.Address{0xfe, 19: 1}, big.NewInt(1), nil) }
	to := common.Address{0xbe, 0xef, 19: 61}
	usdc := base + "/erc20:" + l.usdc[8453].Hex()

	// each asks until no read is left that could find its block gone
	each := func(what string, first, ask func()) {
		for n := 1; ; n++ {
			took := 0
			for _, torn := range []bool{false, true} {
				first()
				node.leaves(n, torn)
				ask()
				node.leaves(0, false)
				took += node.took()
			}
			if took == 0 {
				t.Logf("%s: in each of %d requests", what, n-1)
				return
			}
		}
	}
	each("balances", func() {}, func() {
		if has := c.balance(base+":"+c.user.Address.Hex(), usdc); has.Int64() != 100_000_000 {
			t.Errorf("balance %s", has)
		}
	})
	var prepared *api.Document
	each("prepare", func() {}, func() { prepared = c.prepare(l.batch(c, to, 1_000_000)) })
	body := c.callQuoteBody(c.sign(prepared, "/chainOperation"), "")
	each("quote", func() {}, func() { c.ask("POST", c.callQuotePath(), body) })
	var signed *api.Document
	var id string
	paid := int64(0)
	each("execute", func() {
		if id != "" {
			c.done(c.ended(id), api.RecordCall)
		}
		signed, id, _ = c.call(l.batch(c, to, 1_000_000), "")
	}, func() {
		c.ask("POST", c.executePath(), string(signed.Raw()))
		paid++
	})
	if c.done(c.ended(id), api.RecordCall); c.balance(base+":"+to.Hex(), usdc).Int64() != paid*1_000_000 {
		t.Fatalf("after %d payments %s arrived", paid, c.balance(base+":"+to.Hex(), usdc))
	}

	node.always = true // no block stays
	node.leaves(1, false)
	status, raw := c.send("POST", c.preparePath(), l.batch(c, to, 1_000_000))
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(string(raw), "blocks of the chain are being replaced") {
		t.Errorf("%d %s", status, raw)
	}
	node.leaves(0, false)
}
