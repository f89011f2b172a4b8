package act

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

const (
	netID   = "0x2e6e7adf99a44c4bf2d50450af3503dcdf78e4606772affef602cfa5de1234b0"
	account = "0x21f6b1d4b4fa4be12c4c4a60ce0c4c4a5d4f5a10"
	payee   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	usdc    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	escrow  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
	gate    = "I trust this paymaster"
	opID    = "00112233445566aa"
)

func quoteID(n int) string { return fmt.Sprintf("0x%064x", n) }

func start() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// rig runs commands against a session of fakes.
type rig struct {
	testing.TB
	c          Commands
	s          *Session
	out, err   bytes.Buffer
	now        time.Time
	service    *fakeService
	nodes      *someNodes
	op         *fakeOp
	book       []journal.Operation
	live       []journal.Outstanding
	shut       []journal.Closed
	sees       func() // what own nodes close when they are asked; nil: there are none
	terms      map[string]journal.Terms
	lists      profile.Lists
	limits     verify.Limits // the limits that Work got
	kept       map[string][]byte
	answers    []string // that the user types
	asked      []string
	pause      time.Duration // before an answer
	locked     bool
	unlocked   []string // passphrases
	started    []intent.Intent
	unfinished []Operation
	asks       int          // of Reconcile
	finds      func() error // what Reconcile does
	closed     int
	facts      []journal.LaneFacts
	wrote      []string // to the journal, by void and repair
	wrong      error    // the error of that
	tries      int      // of work that writes nothing
	held       int      // steps of apply itself
	yields     []string // intents that other processes had to yield
	lost       journal.Loss
	lostErr    error
	adopted    int
}

func newRig(t testing.TB) *rig {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, now: start(), service: newService(), kept: map[string][]byte{}, pause: time.Second}
	r.op = newOp(r)
	r.s = &Session{
		Profile: "demo", Network: network.Descriptor{ID: netID, Kind: network.Lab}, Catalog: cat,
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee),
			AccountAddress: account, DeploymentType: api.DeploymentERC4337}},
		Query: client.BalanceQuery{Accounts: []string{account}}, Service: r.service,
		Lists: func(context.Context) (profile.Lists, error) { return r.lists, nil },
		Read:  func() (Book, error) { return r, nil },
		Work:  r.work,
		Sees:  func() bool { return r.sees != nil },
		Try: func(tighten Tighten) (*Work, error) {
			r.tries++
			return r.work(tighten)
		},
		Lost:   func() (journal.Loss, error) { return r.lost, r.lostErr },
		Adopt:  func() error { r.adopted++; return nil },
		Plans:  r,
		Locked: func() bool { return r.locked }, WatchOnly: func(context.Context) string { return "" },
		Lock: func() { r.locked = true },
		Keep: r,
	}
	r.s.All = r.s.Accounts
	r.s.Close = func() error { r.closed++; return nil }
	r.c = Commands{
		Open: func(context.Context, cli.Global) (*Session, error) {
			r.s.Unlock = func(ctx context.Context) error {
				pass, err := cli.Prompt{}.Secret(ctx, "Passphrase of profile demo (not shown): ")
				if err == nil {
					r.unlocked, r.locked = append(r.unlocked, string(pass.Reveal())), false
				}
				return err
			}
			return r.s, nil
		},
		In: strings.NewReader(""), Out: &r.out, Err: &r.err, Clock: r.clock,
		Random: bytes.NewReader(bytes.Repeat([]byte{0xab, 1}, 64)), Prompt: r,
		Sleep: func(_ context.Context, d time.Duration) error { r.now = r.now.Add(d); return nil },
		Build: cli.Build{Version: "v1.2.3"},
	}
	return r
}

func (r *rig) clock() time.Time { return r.now }

func (r *rig) work(tighten Tighten) (*Work, error) {
	if tighten != nil {
		var err error
		if r.limits, err = tighten(r.limits); err != nil {
			return nil, err
		}
	}
	return &Work{
		Start: func(_ context.Context, in intent.Intent) (Operation, error) {
			r.started = append(r.started, in)
			r.op.snap = flow.Snapshot{ID: opID, State: flow.StateDraft, Started: r.now, SignaturesTotal: 1,
				Intent: in.Draft()}
			return r.op, nil
		},
		Unfinished: func() []Operation { return r.unfinished },
		Reconcile:  r.reconcile,
		Observe: func(context.Context) error {
			r.sees()
			return nil
		},
		Operations: r.Operations,
		Void: func(hash, typed string) error {
			r.wrote = append(r.wrote,
				"void "+hash+" "+typed)
			return r.wrong
		},
		Repair: func(l journal.Lane, typed string, yes bool) error {
			r.wrote = append(r.wrote, fmt.Sprintf("repair %+v %q %v", l, typed, yes))
			return r.wrong
		},
		Hold: func(context.Context) (func(), error) {
			r.held++
			return func() { r.held-- }, nil
		},
		Yield: func(_, hash string) error {
			if r.held != 1 {
				r.Error("others are told to leave outside a step")
			}
			r.yields = append(r.yields, hash)
			return nil
		},
		Close: func() error { r.closed++; return nil },
	}, nil
}

func (r *rig) reconcile(context.Context) error {
	r.asks++
	if r.finds == nil {
		return nil
	}
	return r.finds()
}

// Operations, Outstanding and Close make the rig a journal; Load and Save make it a place for documents.
func (r *rig) Operations() []journal.Operation                    { return slices.Clone(r.book) }
func (r *rig) Terms(id string) (journal.Terms, bool)              { t, ok := r.terms[id]; return t, ok }
func (r *rig) Outstanding(time.Time) []journal.Outstanding        { return r.live }
func (r *rig) Closed(time.Time) []journal.Closed                  { return r.shut }
func (r *rig) Lanes(time.Time) []journal.LaneFacts                { return r.facts }
func (r *rig) Close() error                                       { return nil }
func (r *rig) Load(name string) ([]byte, error)                   { return r.kept[name], nil }
func (r *rig) Save(name string, b []byte) error                   { r.kept[name] = bytes.Clone(b); return nil }
func (r *rig) Hold(ctx context.Context) (context.Context, func()) { return ctx, func() {} }

// Line answers as the user of the rig; without a remaining answer the input has ended.
func (r *rig) Line(_ context.Context, question string) (string, error) {
	r.asked = append(r.asked, question)
	if len(r.answers) == 0 {
		return "", cli.ErrInterrupted
	}
	a := r.answers[0]
	r.answers = r.answers[1:]
	r.now = r.now.Add(r.pause)
	return a, nil
}

// run carries out a command line and returns its exit code.
func (r *rig) run(args ...string) int {
	r.Helper()
	code, _ := r.runError(args...)
	return code
}

func (r *rig) runError(args ...string) (int, error) {
	r.Helper()
	r.out.Reset()
	r.err.Reset()
	var g cli.Global
	root := &cobra.Command{Use: "coffer", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &cli.UsageError{Problem: err.Error()} })
	c := r.c
	for _, make := range []func(*cli.Global) *cobra.Command{c.Assets, c.Chains, c.History, c.Status, c.Activity,
		c.Refund, c.Receive, c.Call, c.Pay, c.Allowances,
		c.Transfer, c.Swap, c.Export, c.Plan, c.Apply, c.Lab} {
		root.AddCommand(make(&g))
	}
	root.SetArgs(args)
	root.SetOut(&r.out)
	root.SetErr(&r.err)
	err := root.ExecuteContext(r.Context())
	if err != nil {
		cli.Report(&r.err, err)
	}
	return codeOf(err), err
}

// codeOf is the exit code of the program for an error.
func codeOf(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return cli.Code(err)
}

// done demands an exit code.
func (r *rig) done(code int, args ...string) {
	r.Helper()
	if got := r.run(args...); got != code {
		r.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, code, r.out.String(), r.err.String())
	}
}

func (r *rig) says(texts ...string) {
	r.Helper()
	for _, s := range texts {
		if !strings.Contains(r.err.String(), s) {
			r.Errorf("%q is not said:\n%s", s, r.err.String())
		}
	}
}

// fakeService answers with documents.
type fakeService struct {
	chains, assets, balances string
	statuses                 []string // the last one stays
	records                  []string // newest first
	expire                   int      // how many continuations are refused from now on
	queries                  []client.HistoryQuery
	err                      error
}

const someChains = `[ {"chain":{"chain":"eip155:8453","namespace":"eip155","reference":"8453"},"isTestnet":false},
 {"chain":{"chain":"eip155:10","namespace":"eip155","reference":"10"},"isTestnet":false} ]`

const someAssets = `[{"aggregatedAssetId":"ob:usdc","symbol":"USDC","name":"USD Coin","decimals":6,` +
	`"aggregatedEntities":[` +
	`{"assetType":"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","decimals":6,"name":"USD Coin",` +
	`"symbol":"USDC"}], "more": 1.50}]`

func newService() *fakeService {
	return &fakeService{
		chains: someChains, assets: someAssets,
		balances: `{"totalBalance": {"fiatValue": 12.50}, "balanceByAggregatedAsset": []}`,
		statuses: []string{`{}`},
	}
}

func answer(s string, err error) (client.Answer, error) {
	if err != nil {
		return client.Answer{}, err
	}
	doc, err := api.ParseDocument([]byte(s), api.DefaultLimits())
	return client.Answer{Document: doc}, err
}

func (f *fakeService) BalancesDocument(context.Context, client.BalanceQuery) (client.Answer, error) {
	return answer(f.balances, f.err)
}
func (f *fakeService) AssetsDocument(context.Context) (client.Answer, error) {
	return answer(f.assets, f.err)
}
func (f *fakeService) ChainsDocument(context.Context) (client.Answer, error) {
	return answer(f.chains, f.err)
}

func (f *fakeService) StatusDocument(context.Context, string) (client.Answer, error) {
	s := f.statuses[0]
	if len(f.statuses) > 1 {
		f.statuses = f.statuses[1:]
	}
	return answer(s, f.err)
}

// HistoryDocument gives pages of two records, with the index of the next as continuation.
func (f *fakeService) HistoryDocument(_ context.Context, q client.HistoryQuery) (client.Answer, error) {
	f.queries = append(f.queries, q)
	from := 0
	if q.Continuation != "" {
		if f.expire > 0 {
			f.expire--
			return client.Answer{}, &api.Error{Name: api.ErrNotFound, Message: "the cursor has expired",
				StatusCode: 404}
		}
		from, _ = strconv.Atoi(q.Continuation)
	}
	to := min(from+2, len(f.records))
	page := `{"transactions":[` + strings.Join(f.records[from:to], ", ") + `]`
	if to < len(f.records) {
		page += `,"continuation":"` + strconv.Itoa(to) + `"`
	}
	return answer(page+`}`, f.err)
}

func recordJSON(n int, status, kind string, at time.Time) string {
	return fmt.Sprintf(
		`{"quoteId":"%s","status":"%s","user":"%s","recipientAccountId":"eip155:8453/%s",`+
			`"originChainOperations":[{"hash":"0x%064x","chain":"eip155:10","explorerUrl":"https://x.invalid"}],`+
			`"destinationChainOperations":[{"hash":"0x%064x","chain":"eip155:8453","explorerUrl":""}], "type":"%s",`+
			`"originToken":{"aggregatedAssetId":"ob:usdc","amount":"%d500000",`+
			`"assetType":["eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"],"fiatValue":[]},`+
			`"destinationToken":{"aggregatedAssetId":"ob:usdc","amount":"%d000000",`+
			`"assetType":"eip155:8453/erc20:%s","fiatValue":"1.00"},"timestamp":"%s"}`,
		quoteID(n), status, account, payee, n, n+1000, kind, n, n, usdc, at.Format(time.RFC3339))
}

func statusJSON(status string) string {
	return `{"quoteId": "` + quoteID(5) + `","status":"` + status + `","user":"` + account +
		`","recipientAccountId":"eip155:8453/` + account + `", "originChainOperations":[{"hash":"0x` +
		strings.Repeat("0d", 32) +
		`","chain":"eip155:10","explorerUrl":""}],"destinationChainOperations":[{"hash":"0x` +
		strings.Repeat("0e", 32) + `","chain":"eip155:8453","explorerUrl":""}]}`
}

func amountIn(asset caip.Asset, symbol string, decimals int, units, micro int64, where string) verify.AmountView {
	return verify.AmountView{Asset: asset, Symbol: symbol, Decimals: decimals, Amount: big.NewInt(units),
		Micro: big.NewInt(micro), ChainName: where}
}

func usdcOf(units, micro int64, where string) verify.AmountView {
	return amountIn(caip.ERC20(8453, common.HexToAddress(usdc)), "USDC", 6, units, micro, where)
}

func (c circular) HistoryDocument(_ context.Context, q client.HistoryQuery) (client.Answer, error) {
	c.queries = append(c.queries, q)
	return answer(`{"transactions":[`+strings.Join(c.records, ",")+`],"continuation":"x"}`, nil)
}

func (p perUser) HistoryDocument(ctx context.Context, q client.HistoryQuery) (client.Answer, error) {
	return (&fakeService{records: p.of[q.User]}).HistoryDocument(ctx, q)
}
