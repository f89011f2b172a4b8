package service_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/api/openapi"
	"coffer/api/service"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// named are the errors of protocol §6 with their status: whatever is sent, the answer is a success or one of these.
func named() map[string]int {
	return map[string]int{
		api.ErrValidation: 400, api.ErrTamperProof: 400, api.ErrInvalidSignature: 400, api.ErrQuoteExpired: 400,
		api.ErrPrepareAgain:        400,
		api.ErrInsufficientBalance: 400, api.ErrNoRoute: 400, api.ErrDelegation: 400, api.ErrUnauthorized: 401,
		api.ErrForbidden: 403,
		api.ErrNotFound:  404, api.ErrAlreadyExecuted: 409, api.ErrMediaType: 415, api.ErrSimulationFailed: 422,
		api.ErrTooManyRequests: 429,
	}
}

// postPaths are the endpoints that take a body.
var postPaths = describedPosts()

func describedPosts() []string {
	var out []string
	for _, e := range openapi.Endpoints() {
		if e.Method == http.MethodPost {
			out = append(out, e.Path)
		}
	}
	return out
}

// target is a service with accounts of several kinds and a real document for each of its endpoints.
type target struct {
	s      *service.Service
	w      *wallet
	others []common.Address
	docs   map[string][]byte
}

func newTarget(t *testing.T) *target {
	o := options(storetest.New(t))
	first := open(t, o)
	w := newWallet(t, first)
	many := newClient(t, first, api.AccountKernelV33+settletest.WithSolana, 41)
	role := newClient(t, first, api.AccountRoleBased, 42)
	role.v1 = true
	many.balance("eip155:1:"+many.user.Address.Hex()+",solana:"+many.user.Wallet.String(), solUSDC)
	role.balance("eip155:1:"+role.user.Address.Hex(), opUSDC)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	o.Fund = false // else the accounts of damaged documents would hold funds, too
	s := open(t, o)
	w.rt = service.RoundTripper(s.Handler())
	many.s, many.rt, role.s, role.rt = s, checked{t, w.rt}, s, checked{t, w.rt}
	g := &target{s: s, w: w, docs: map[string][]byte{}, others: []common.Address{many.user.Address, role.user.Address}}
	const amount = 300_000_000
	transfer := "0x" + hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(amount)))
	word := "0x" + strings.Repeat("0", 63) + "1"
	prepare, err := json.Marshal(api.PrepareRequest{
		Accounts: []api.Account{w.account}, TargetChain: "eip155:8453",
		Calls: []api.Call{{To: baseUSDC, Data: transfer, Value: "0"},
			{To: recipient, Data: "0x", Value: "0x0"}},
		TokensRequired: []api.TokenRequirement{{AssetType: "eip155:8453/erc20:" + baseUSDC,
			Amount: fmt.Sprint(amount)}},
		AllowanceRequirements: []api.AllowanceRequirement{
			{AssetType: "eip155:8453/erc20:" + baseUSDC, Amount: "5", Spender: recipient}},
		Overrides: []api.StateOverride{{Address: recipient, Balance: "0x1", Code: "0x00",
			StateDiff: map[string]string{word: word}}},
		ValidAfter: "1760000000", ValidUntil: "1760000300", FromAssetID: "ob:usdc", SlippageTolerance: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	g.docs["/account/predict-address"] = fmt.Appendf(nil, `{"type":%q,"signerAddress":%q}`, w.account.Type,
		w.account.SignerAddress)
	g.docs[preparePath] = prepare
	prepared := w.sign(w.post(preparePath, prepare, 200), "/chainOperation")
	part := func(at string) []byte { raw, _ := prepared.At(at); return raw }
	g.docs[quotePath] = fmt.Appendf(nil,
		`{"accounts":%s,"chainOperation":%s,"tamperProofSignature":%s,"fromAggregatedAssetId":"ob:usdc",`+
			`"slippageTolerance":50}`,
		part("/accounts"), part("/chainOperation"), part("/tamperProofSignature"))
	quoted := w.post(quotePath, g.docs[quotePath], 200)
	for i := range 10 {
		at := fmt.Sprintf("/originChainsOperations/%d", i)
		if _, there := quoted.At(at); there {
			quoted = w.sign(quoted, at)
		}
	}
	g.docs[executePath] = quoted.Raw()
	g.docs[many.quotePath()] = []byte(many.swap("ob:usdc", "500000000", solSOL, many.user.On(settletest.Solana)))
	g.docs[role.quotePath()] = []byte(role.swap("ob:eth", "5000000000000000", "ob:usdc", "eip155:10:"+recipient))
	g.docs[role.preparePath()] = []byte(role.transfer(amount))
	g.docs[role.callQuotePath()] = []byte(role.callQuoteBody(role.sign(role.prepare(role.transfer(amount)),
		"/chainOperation"), "ob:usdc"))
	swap, _ := role.exchange(role.swap("ob:eth", "5000000000000000", "ob:usdc", ""))
	g.docs[role.executePath()] = swap.Raw()
	g.docs["/account/relay"] = []byte(role.rotate("eip155:10", settletest.Key(99), 0))
	g.docs["/account/undelegate"] = []byte(role.undelegation(8453, 0))
	for _, path := range postPaths {
		if g.docs[path] == nil {
			t.Fatalf("no document for %s", path)
		}
	}
	return g
}

// send posts a body and demands an answer of the interface.
func (g *target) send(t *testing.T, method, path string, body []byte) int {
	t.Helper()
	r := request(t, context.Background(), method, "https://x/api"+path, string(body))
	r.Header.Set("x-api-key", key)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := checked{t, g.w.rt}.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %.300q: %v", path, body, err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode < 300 {
		return res.StatusCode
	}
	var e struct {
		Error      string        `json:"error"`
		Message    string        `json:"message"`
		StatusCode int           `json:"statusCode"`
		Details    []api.Failure `json:"details"`
	}
	if err := json.Unmarshal(raw, &e); err != nil || named()[e.Error] != res.StatusCode ||
		e.StatusCode != res.StatusCode || e.Message == "" {
		t.Fatalf("%s %.500q was answered %d %.500q", path, body, res.StatusCode, raw)
	}
	if e.Error == api.ErrValidation && len(e.Details) == 0 {
		t.Errorf("%s %.300q: a validation failure without details: %s", path, body, e.Message)
	}
	return res.StatusCode
}

// vandal changes JSON values.
type vandal struct{ *rand.Rand }

func (v vandal) pick(of ...any) any { return of[v.IntN(len(of))] }

func (v vandal) value(was any) any {
	if s, ok := was.(string); ok && v.IntN(2) == 0 {
		return v.text(s)
	}
	return v.pick(nil, true, 0, -1, 1.5, 1e300, json.Number("9007199254740993"), json.Number("1.0"), "", "0x", "0x0",
		"0", "-1", "00", "1e9", "ob:usdc", "ob:zero", "ob:pol",
		"eip155:1", "eip155:8453", "eip155:8453/slip44:60", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
		"eip155:59144/slip44:60", "\u0000\u202e", "ü€", strings.Repeat("9", 90),
		"0x"+strings.Repeat("f", 64), "0x"+strings.Repeat("00", 3000), "0x"+strings.Repeat("0", 40), baseUSDC,
		recipient, "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
		[]any{}, map[string]any{}, []any{[]any{[]any{}}}, map[string]any{"a": nil}, "1759999999", "1760000061",
		"1760000599", "999999999999", "solana", api.AccountRoleBased,
		"115792089237316195423570985008687907853269984665640564039457584007913129639935")
}

func (v vandal) text(s string) any {
	if s == "" {
		return "x"
	}
	b := []byte(s)
	switch v.IntN(6) {
	case 0:
		b[v.IntN(len(b))] ^= 1 << v.IntN(7)
	case 1:
		return s[:v.IntN(len(s))]
	case 2:
		return s + s
	case 3:
		return strings.ToUpper(s)
	case 4:
		return strings.ToLower(s)
	default:
		return s + " "
	}
	return string(b)
}

// change damages one place of a document, or leaves it.
func (v vandal) change(x any) any {
	switch x := x.(type) {
	case map[string]any:
		names := make([]string, 0, len(x))
		for n := range x {
			names = append(names, n)
		}
		slices.Sort(names)
		if len(names) == 0 || v.IntN(12) == 0 {
			x[v.pick("type", "deploymentType", "sessionAddress", "delegation", "signature", "extra",
				"__proto__").(string)] = v.value(nil)
			return x
		}
		n := names[v.IntN(len(names))]
		switch v.IntN(8) {
		case 0:
			delete(x, n)
		case 1:
			x[n] = v.value(x[n])
		default:
			x[n] = v.change(x[n])
		}
		return x
	case []any:
		if len(x) == 0 || v.IntN(8) == 0 {
			return append(x, v.value(nil))
		}
		i := v.IntN(len(x))
		switch v.IntN(8) {
		case 0:
			return append(x, x[i])
		case 1:
			return slices.Delete(x, i, i+1)
		}
		x[i] = v.change(x[i])
		return x
	}
	return v.value(x)
}

func (v vandal) damage(t *testing.T, doc []byte) []byte {
	if v.IntN(10) == 0 { // bytes rather than values
		b := bytes.Clone(doc)
		for range 1 + v.IntN(3) {
			b[v.IntN(len(b))] ^= 1 << v.IntN(8)
		}
		return b[:len(b)-v.IntN(2)*v.IntN(len(b))]
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		t.Fatal(err)
	}
	for range 1 + v.IntN(3) {
		x = v.change(x)
	}
	out, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever is sent to the endpoints, every answer is one of the interface, nothing breaks, and no token is made or
// lost.
func TestHostileDocumentsNeverBreakTheService(t *testing.T) {
	g := newTarget(t)
	before, paths := sums(t, g.s, g.w, g.others...), postPaths
	v := vandal{rand.New(rand.NewPCG(2024, 11))}
	answers := map[string]map[int]int{}
	documents := 4000
	if testing.Short() {
		documents = 400
	}
	for range documents {
		path := paths[v.IntN(len(paths))]
		source := path
		if v.IntN(20) == 0 { // a real document of another endpoint
			source = paths[v.IntN(len(paths))]
		}
		status := g.send(t, http.MethodPost, path, v.damage(t, g.docs[source]))
		if answers[path] == nil {
			answers[path] = map[int]int{}
		}
		answers[path][status]++
	}
	if err := g.s.Idle(context.Background()); err != nil {
		t.Fatal(err)
	}
	for path, by := range answers {
		if by[400] == 0 {
			t.Errorf("%s: nothing was refused: %v", path, by)
		}
	}
	if !testing.Short() && (answers[preparePath][200] == 0 || answers[preparePath][422] == 0) {
		t.Errorf("the mix was too thin: %v", answers)
	}
	after := sums(t, g.s, g.w, g.others...)
	for a, had := range before {
		if after[a] != had {
			t.Errorf("%s: the sum was %s and is %s", a, had, after[a])
		}
	}
}

// Requests that break more rules than an answer can list, or whose names are longer than an answer can be, get a
// bounded 400.
func TestRequestsThatBreakCountlessRulesAreAnswered(t *testing.T) {
	g := newTarget(t)
	broken := strings.TrimSuffix(strings.Repeat(`{"to":1,"data":"z","value":"x"},`, 9_990), ",")
	slots := make([]string, 9_990)
	for i := range slots {
		slots[i] = fmt.Sprintf(`"s%d":1`, i)
	}
	diff := fmt.Sprintf(`{"address":1,"stateDiff":{%s}}`, strings.Join(slots, ","))
	long := strings.Repeat("n", 3<<20)
	for name, body := range map[string]string{
		"calls":     `{"calls":[` + broken + `]}`,
		"overrides": `{"overrides":[` + strings.TrimSuffix(strings.Repeat(diff+",", 20), ",") + `]}`,
		"slot name": `{"overrides":[{"address":"x","stateDiff":{"` + long + `":"x"}}]}`,
	} {
		if status := g.send(t, http.MethodPost, preparePath, []byte(body)); status != 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
	var real map[string]any
	if err := json.Unmarshal(g.docs[preparePath], &real); err != nil {
		t.Fatal(err)
	}
	// it would come back in the answer
	real["accounts"].([]any)[0].(map[string]any)["adminAddress"] = strings.Repeat("n", 4<<20-6_000)
	body, err := json.Marshal(real)
	if err != nil {
		t.Fatal(err)
	}
	if status := g.send(t, http.MethodPost, preparePath, body); status != 400 {
		t.Errorf("a foreign member of an account: %d", status)
	}
	commas := strings.Repeat(",", 16_000)
	query := url.Values{"account": {commas}, "aggregatedAssetId": {commas}, "assetId": {commas}}
	if status := g.send(t, http.MethodGet, "/v3/balances/aggregated-balance?"+query.Encode(), nil); status != 400 {
		t.Errorf("commas: %d", status)
	}
}

// FuzzPostBodies sends raw bytes to every endpoint that takes a body.
func FuzzPostBodies(f *testing.F) {
	o := options(storetest.New(f))
	o.Fund = false // an account for every input would fill the memory
	s := open(f, o)
	g, paths := &target{s: s, w: &wallet{rt: service.RoundTripper(s.Handler())}}, postPaths
	for i, seed := range []string{`{}`, `[]`, `{"accounts":[{}],"calls":[{}],"targetChain":"eip155:1"}`,
		`{"chainOperation":{"userOp":{}}}`, `{"originChainsOperations":[{"type":"solana"}]}`,
		`{"from":{"accounts":[{}],"asset":{}},"to":{}}`, `{"account":{},"action":"operate","userOp":{}}`} {
		f.Add(uint8(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, endpoint uint8, body []byte) {
		g.send(t, http.MethodPost, paths[int(endpoint)%len(paths)], body)
	})
}

// FuzzQueries sends raw queries to every endpoint that takes parameters.
func FuzzQueries(f *testing.F) {
	o := options(storetest.New(f))
	o.Fund = false
	s := open(f, o)
	g := &target{s: s, w: &wallet{rt: service.RoundTripper(s.Handler())}}
	var paths []string
	for _, e := range openapi.Endpoints() {
		if e.Method == http.MethodGet && len(e.Parameters) > 0 {
			paths = append(paths, e.Path)
		}
	}
	for i, seed := range []string{"", "account=eip155:1:" + account, "quoteId=0x",
		"user=" + account + "&limit=1&sortBy=updatedAt", "address=" + account + "&assetId=ob:usdc", "a=%zz&account=;"} {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, endpoint uint8, query string) {
		r := request(t, context.Background(), http.MethodGet, "https://x/api"+paths[int(endpoint)%len(paths)], "")
		r.URL.RawQuery = query
		r.Header.Set("x-api-key", key)
		res, err := checked{t, g.w.rt}.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != 200 && res.StatusCode != 400 {
			t.Errorf("%q was answered with %d", query, res.StatusCode)
		}
	})
}
