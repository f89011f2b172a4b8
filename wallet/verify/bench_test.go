package verify_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

const megabyte = 1 << 20

// megabytes are hostile answers of one megabyte, each aimed at another part of the judgement: name -> prepare answer.
func megabytes(w *world) map[string]*api.Document {
	base := w.Document(w.PrepareResponse())
	at := func(pointer, value string) *api.Document {
		d, err := base.Splice(api.Edit{Pointer: pointer, Value: []byte(value)})
		if err != nil {
			w.T.Fatal(err)
		}
		return d
	}
	list := func(item string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	rows := list(list("1", 5_000), 19) // as many values as the lexical gate lets through
	return map[string]*api.Document{
		"long string": at("/tamperProofSignature", `"0x`+strings.Repeat("ab", megabyte/2)+`"`),
		"long number": at("/sourceAssetBalances/0/fiatValue", strings.Repeat("9", megabyte)),
		"long amount": at("/chainOperation/amount", `"`+strings.Repeat("9", megabyte)+`"`),
		"long call data": at("/chainOperation/userOp/callData",
			`"0xe9ae5c53`+strings.Repeat("00", megabyte/2)+`"`),
		"many leaves":        at("/extra", rows),
		"many leaves inside": at("/chainOperation/userOp/extra", rows),
		"many typed data fields": at("/chainOperation/typedDataToSign/types/Approve",
			list(`{"name":"a","type":"b"}`, 9_000)),
		"many balances": at("/sourceAssetBalances",
			list(fmt.Sprintf(`{"assetType":%q,"balance":"1","decimals":6,"fiatValue":1}`, baseUSDC), 9_000)),
		"many unknown balances": at("/sourceAssetBalances",
			list(`{"assetType":"eip155:1/slip44:1","balance":"1","decimals":6,"fiatValue":1}`, 9_000)),
		"many accounts": at("/accounts", list(`{"type":"kernel-v3.1-ecdsa","accountAddress":"0x1"}`, 9_000)),
	}
}

func BenchmarkPreparedOneMegabyte(b *testing.B) {
	w := newWorld(b)
	w.Freeze()
	for name, doc := range megabytes(w) {
		raw := doc.Raw()
		b.Run(name+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := api.ParseDocument(raw, api.DefaultLimits()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/judge", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.prepared(doc)
			}
		})
	}
}

// megabyteQuotes are hostile quotes of up to one megabyte.
func megabyteQuotes(w *world) map[string]*api.Document {
	base := w.Document(w.CrossChain())
	out := map[string]*api.Document{}
	for name, e := range map[string]api.Edit{
		"long percent": {Pointer: "/slippage/origin/percent",
			Value: []byte(`"0.` + strings.Repeat("1", megabyte) + `"`)},
		"huge exponent": {Pointer: "/slippage/origin/percent", Value: []byte(`"1e999999"`)},
		"long call data": {Pointer: "/originChainsOperations/0/userOp/callData",
			Value: []byte(`"0xe9ae5c53` + strings.Repeat("00", megabyte/2) + `"`)},
		"many fees": {Pointer: "/fees/assets", Value: []byte(manyFees(9_000))},
		"many assets": {Pointer: "/originToken/assetType",
			Value: []byte("[" + strings.TrimSuffix(strings.Repeat(`"`+arbUSDC+`",`, 9_000), ",") + "]")},
		"many operations": {Pointer: "/originChainsOperations", Value: manyOperations(base, 300)},
	} {
		doc, err := base.Splice(e)
		if err != nil {
			w.T.Fatal(err)
		}
		out[name] = doc
	}
	return out
}

func BenchmarkQuoteOneMegabyte(b *testing.B) {
	w := newWorld(b)
	w.Freeze()
	s := w.signed()
	for name, doc := range megabyteQuotes(w) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), s, doc)
			}
		})
	}
}

func manyFees(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf(`"eip155:1/erc20:0x%040x":"%s"`, i, big.NewInt(int64(i))))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func manyOperations(base *api.Document, n int) []byte {
	one, _ := base.At("/originChainsOperations/0")
	return []byte("[" + strings.TrimSuffix(strings.Repeat(string(one)+",", n), ",") + "]")
}
