package attesthttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/secret"
	"coffer/api/service/access"
	"coffer/api/service/attest"
	"coffer/api/service/attest/attesthttp"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

const (
	apiKey    = "the-key-of-the-operator"
	networkID = "0x00000000000000000000000000000000000000000000000000000000000000aa"
)

func claim() attest.Claim {
	return attest.Claim{
		Escrow:  escrow.Place{ChainID: 10, Escrow: common.Address{0xe5}},
		QuoteID: common.Hash{1}, Depositor: common.Address{2},
		Terms: escrow.Terms{TargetChain: 8453, FillDeadline: 1_760_000_600, Operations: [][32]byte{{1}, {2}},
			Minimums: []escrow.Minimum{{Token: [32]byte{5}, To: [32]byte{6}, Amount: big.NewInt(7)}}},
		Fill: common.Hash{3}.Hex(),
	}
}

func TestAClaimGoesOverTheWireUnchanged(t *testing.T) {
	raw, err := attesthttp.EncodeRequest(networkID, claim())
	if err != nil {
		t.Fatal(err)
	}
	of, got, err := attesthttp.ParseRequest(raw)
	if err != nil || of != networkID || !reflect.DeepEqual(got, claim()) {
		t.Errorf("%s %+v, %v", of, got, err)
	}
	for what, spoilt := range map[string]string{
		"another version": strings.Replace(string(raw), `"version":1`, `"version":2`, 1),
		"Solana":          strings.Replace(string(raw), "eip155:10", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", 1),
		"a member twice":  strings.Replace(string(raw), `"version":1`, `"version":1,"version":1`, 1),
		"a foreign one":   strings.Replace(string(raw), `"version":1`, `"version":1,"salt":"0x"`, 1),
		"cut terms":       strings.Replace(string(raw), `"terms":"0x00`, `"terms":"0x`, 1),
		"nothing":         "",
		"a list":          "[]",
		"too much":        string(raw) + strings.Repeat(" ", attesthttp.MaxRequest),
	} {
		var refused *api.Error
		if _, _, err := attesthttp.ParseRequest([]byte(spoilt)); !errors.As(err, &refused) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// receipts are those of a chain.
type receipts map[common.Hash]chain.Receipt

// Receipt implements attest.Receipts.
func (r receipts) Receipt(_ context.Context, tx common.Hash) (chain.Receipt, bool, error) {
	got, found := r[tx]
	return got, found, nil
}

// broken is a chain that cannot be read.
type broken struct{}

// Receipt implements attest.Receipts.
func (broken) Receipt(context.Context, common.Hash) (chain.Receipt, bool, error) {
	return chain.Receipt{}, false, errors.New("no quorum, and the secret way to the node")
}

func key(t testing.TB) *signers.Key {
	t.Helper()
	k, err := crypto.ToECDSA(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return signers.Local(k)
}

// serve starts an attester that reads a chain, and its client.
func serve(t *testing.T, on attest.Receipts, log io.Writer) (*attesthttp.Remote, *httptest.Server) {
	t.Helper()
	a := &attest.Attester{Key: key(t), Filler: common.Address{0xf1}, Escrow: claim().Escrow.Escrow,
		Chains: map[uint64]attest.Receipts{8453: on, 10: receipts{}}}
	s := attesthttp.Server{Attester: a, Auth: access.NewOneKey(apiKey), Clock: time.Now,
		Log:  slog.New(slog.NewTextHandler(log, nil)),
		Info: attesthttp.Info{Attester: a.Address(), Network: networkID, Filler: a.Filler, Escrow: a.Escrow}}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return attesthttp.NewRemote(attesthttp.Options{Attester: a.Address(), URL: web.URL, Network: networkID,
		Filler: a.Filler, Escrow: a.Escrow, Key: secret.New([]byte(apiKey)), Within: 5 * time.Second}), web
}

func filled(c attest.Claim) receipts {
	terms := c.Terms.Hash(common.Address{0xf1}, c.QuoteID, c.Depositor)
	return receipts{common.HexToHash(c.Fill): {Success: true, Logs: []chain.Log{{Address: common.Address{0xf1},
		Topics: []common.Hash{filler.FilledTopic(), c.QuoteID}, Data: terms[:]}}}}
}

func TestAnAttesterSaysWhyItSignsNot(t *testing.T) {
	var log bytes.Buffer
	good, _ := serve(t, filled(claim()), &log)
	sig, err := good.Attest(t.Context(), claim())
	if err != nil || attest.Check(key(t).Address(), common.Address{0xf1}, claim(), sig) != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "code=ATTESTED") || strings.Contains(log.String(), apiKey) ||
		strings.Contains(log.String(), common.Bytes2Hex(sig)) {
		t.Error(log.String())
	}
	late := claim()
	late.Fill = common.Hash{9}.Hex()
	if _, err := good.Attest(t.Context(), late); !errors.Is(err, attest.ErrNotYet) {
		t.Errorf("unseen: %v", err)
	}
	other := claim()
	other.Depositor[0] = 8
	if _, err := good.Attest(t.Context(), other); !errors.Is(err, attest.ErrNotFilled) ||
		errors.Is(err, attest.ErrNotYet) {
		t.Errorf("for another depositor: %v", err)
	}
	log.Reset()
	blind, _ := serve(t, broken{}, &log)
	if _, err := blind.Attest(t.Context(), claim()); err == nil || errors.Is(err, attest.ErrNotFilled) ||
		strings.Contains(err.Error(), "secret way") || !strings.Contains(log.String(), "code=ATTEST_FAULT") {
		t.Errorf("blind: %v\n%s", err, log.String())
	}
}

// Before a key is known nothing of a body is read; what is no path is 404 with a key, and a body is bounded.
func TestAnAttesterAdmitsTheOperatorOnly(t *testing.T) {
	_, web := serve(t, filled(claim()), io.Discard)
	ask := func(method, path, key string, body io.Reader) int {
		req, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	large := strings.Repeat("{", attesthttp.MaxRequest*4)
	for _, c := range []struct {
		method, path, key, body string
		want                    int
	}{
		{"POST", attesthttp.AttestPath, "", "{}", 401}, {"POST", attesthttp.AttestPath, "wrong", "{}", 401},
		{"GET", attesthttp.InfoPath, "", "", 401}, {"GET", "/x", "", "", 401}, {"GET", "/x", apiKey, "", 404},
		{"GET", attesthttp.AttestPath, apiKey, "", 404}, {"GET", attesthttp.InfoPath, apiKey, "", 200},
		{"POST", attesthttp.AttestPath, apiKey, "{}", 400}, {"POST", attesthttp.AttestPath, apiKey, large, 400},
	} {
		if got := ask(c.method, c.path, c.key, strings.NewReader(c.body)); got != c.want {
			t.Errorf("%s %s with %q: %d, want %d", c.method, c.path, c.key, got, c.want)
		}
	}
}

func FuzzParseRequest(f *testing.F) {
	raw, err := attesthttp.EncodeRequest(networkID, claim())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"version":1,"chain":"eip155:1","terms":"0x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		of, c, err := attesthttp.ParseRequest(raw)
		var refused *api.Error
		if err != nil {
			if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
				t.Fatal(err)
			}
			return
		}
		again, err := attesthttp.EncodeRequest(of, c)
		if err != nil {
			t.Fatal(err)
		}
		if of2, c2, err := attesthttp.ParseRequest(again); err != nil || of2 != of || !reflect.DeepEqual(c2, c) {
			t.Fatalf("%+v became %+v, %v", c, c2, err)
		}
	})
}

// FuzzAnswersOfAnAttester: whatever answers, there is an error or the attester's own signature.
func FuzzAnswersOfAnAttester(f *testing.F) {
	f.Add(200, []byte(`{"signature":"0x11"}`))
	f.Add(409, []byte(`{"error":"NotYet","message":"m","statusCode":409}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 {
			return
		}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write(body)
		}))
		defer web.Close()
		r := attesthttp.NewRemote(attesthttp.Options{Attester: common.Address{1}, URL: web.URL, Within: time.Second})
		if _, err := r.Attest(t.Context(), claim()); err == nil {
			t.Fatal("took a signature that no key made")
		}
	})
}
