package service_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/networks"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service/store/storetest"
)

// TestDearGasIsSaidBeforeAnythingIsSigned: on own nodes a chain that asks more for gas than the file's cap is said when
// a call is prepared, with both figures and the place of the cap; what was signed before is not accepted, and runs when
// gas is cheaper.
func TestDearGasIsSaidBeforeAnythingIsSigned(t *testing.T) {
	t.Parallel()
	var nodes []dearNode
	l := newLab(t, func(h http.Handler) http.Handler {
		p := faultproxy.New(h, 1)
		t.Cleanup(p.Close)
		nodes = append(nodes, dearNode{p})
		return p
	})
	o := l.options(storetest.New(t))
	o.Lifetime = 5 * time.Minute
	s := l.fuel(open(t, o))
	c := newClient(t, s, api.AccountKernelV31, 53)
	l.stock(8453, c.user.Address, 100_000_000)
	body := l.batch(c, common.Address{0xbe, 19: 1}, 1_000_000)
	signed, id, _ := c.call(body, "")
	prepared := c.prepare(body)
	nodes[0].asks(95e9) // Base: of 100 gwei, 88.8 are for a first attempt
	words := fmt.Sprintf("Base asks for 95 gwei for gas now, and fee_cap_gwei is 100, of which a ninth is kept for "+
		"replacing what hangs: wait, or allow more at %s:%d", l.file, l.line(8453))
	for path, body := range map[string]string{c.preparePath(): body, c.executePath(): string(signed.Raw()),
		c.callQuotePath(): c.callQuoteBody(c.sign(prepared, "/chainOperation"), "")} {
		if e := c.denied(path, body, api.ErrNoRoute); !strings.Contains(e.Message, words) {
			t.Errorf("%s: %s, want %s", path, e.Message, words)
		}
	}
	if got := c.status(id); got.Status != "" {
		t.Errorf("what was refused is %s", got.Status)
	}
	nodes[0].asks(80e9)
	nodes[1].asks(95e9) // of another chain
	c.prepare(body)
	nodes[0].Script()
	c.done(c.waited(signed, id), api.RecordCall)
}

// line is where a chain is in the file.
func (l *lab) line(id uint64) int {
	l.t.Helper()
	file, err := networks.Load(l.file)
	if err != nil {
		l.t.Fatal(err)
	}
	c, _ := file.Chain(id)
	return c.Line
}
