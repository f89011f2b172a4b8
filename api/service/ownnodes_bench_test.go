package service_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service/store/storetest"
)

// BenchmarkOwnNodes is what a person waits for on own nodes that are so far away, with the eight chains of the
// catalogue.
func BenchmarkOwnNodes(b *testing.B) {
	for _, far := range []time.Duration{0, 50 * time.Millisecond} {
		l := newLab(b, func(h http.Handler) http.Handler {
			p := faultproxy.New(h, 1, faultproxy.Rule{Fault: faultproxy.Delay(far)})
			b.Cleanup(p.Close)
			return p
		}, allChains()...)
		o := l.options(storetest.New(b))
		o.Log = nil
		c := newClient(b, l.fuel(open(b, o)), api.AccountKernelV31, 53)
		l.stock(8453, c.user.Address, 100_000_000)
		name := func(what string) string { return fmt.Sprintf("%s/%v", what, far) }
		b.Run(name("start"), func(b *testing.B) {
			for b.Loop() {
				o.Store = storetest.New(b)
				open(b, o)
			}
		})
		b.Run(name("balances"), func(b *testing.B) {
			for b.Loop() {
				c.ask("GET", "/v2/balances/aggregated-balance?address="+c.user.Address.Hex(), "")
			}
		})
		var doc, signed *api.Document
		var id string
		b.Run(name("prepare"), func(b *testing.B) {
			for b.Loop() {
				doc = c.prepare(l.batch(c, common.Address{0xbe, 19: 4}, 1_000))
			}
		})
		b.Run(name("quote"), func(b *testing.B) {
			body := c.callQuoteBody(c.sign(doc, "/chainOperation"), "")
			for b.Loop() {
				signed, id = c.signAll(c.ask("POST", c.callQuotePath(), body))
			}
		})
		b.Run(name("execute"), func(b *testing.B) {
			for b.Loop() {
				c.ask("POST", c.executePath(), string(signed.Raw()))
				c.ended(id)
				b.StopTimer()
				signed, id, _ = c.call(l.batch(c, common.Address{0xbe, 19: 4}, 1_000), "")
				b.StartTimer()
			}
		})
	}
}
