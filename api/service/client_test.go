package service_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/solmsg"
	"coffer/api/service"
	"coffer/api/service/settle/settletest"
)

// client is a foreign client of one user with accounts of any kind, who speaks v1 or v3: it knows the interface, signs
// what it gets, and patches signatures into the bytes that it received.
type client struct {
	t    testing.TB
	s    *service.Service
	rt   http.RoundTripper
	user *settletest.User
	v1   bool
	key  string
}

func newClient(t testing.TB, s *service.Service, kind string, n uint64) *client {
	return &client{t: t, s: s, rt: checked{t, service.RoundTripper(s.Handler())},
		user: settletest.NewUserOf(s.Network().Pins, kind, n), key: key}
}

// send sends a request and returns status and body.
func (c *client) send(method, path, body string) (int, []byte) {
	c.t.Helper()
	r := request(c.t, context.Background(), method, "https://x/api"+path, body)
	r.Header.Set("x-api-key", c.key)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.rt.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, raw
}

// ask sends a request that must succeed.
func (c *client) ask(method, path, body string) *api.Document {
	c.t.Helper()
	status, raw := c.send(method, path, body)
	if status >= 300 {
		c.t.Fatalf("%s %s: %d %s", method, path, status, raw)
	}
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		c.t.Fatal(err)
	}
	return doc
}

func (c *client) json(v any) string {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// who is the member that names the accounts: the account of v1 leaves out the type of a role-based one.
func (c *client) who() string {
	c.t.Helper()
	if !c.v1 {
		return `"accounts":` + c.json(c.user.Accounts())
	}
	a := c.user.Account
	if a.Type == api.AccountRoleBased {
		a.Type = ""
	}
	return `"account":` + c.json(a)
}

func (c *client) pick(v1, v3 string) string {
	if c.v1 {
		return v1
	}
	return v3
}

func (c *client) preparePath() string   { return c.pick("/quotes/prepare-call-quote", preparePath) }
func (c *client) callQuotePath() string { return c.pick("/quotes/call-quote", quotePath) }
func (c *client) executePath() string   { return c.pick("/quotes/execute-quote", executePath) }
func (c *client) quotePath() string     { return c.pick("/v1/quote", "/v3/quote") }
func (c *client) statusPath() string    { return c.pick("/status", "/v3/status") }

// transfer is a prepare body for a transfer of USDC on Base.
func (c *client) transfer(amount int64) string {
	data := hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(amount)))
	return fmt.Sprintf(
		`{%s,"targetChain":"eip155:8453","calls":[{"to":%q,"data":"0x%s","value":"0x0"}],"allowanceRequirements":[],`+
			`"tokensRequired":[{"assetType":"eip155:8453/erc20:%s","amount":"%d"}]}`,
		c.who(), baseUSDC, data, baseUSDC, amount)
}

// swap is a quote body; to is "" for oneself.
func (c *client) swap(from, amount, into, to string) string {
	if to != "" {
		to = fmt.Sprintf(`,"account":%q`, to)
	}
	return fmt.Sprintf(`{"from":{%s,"asset":{"assetId":%q},"amount":%q},"to":{"asset":{"assetId":%q}%s}}`, c.who(),
		from, amount, into, to)
}

// prepare posts a prepare body.
func (c *client) prepare(body string) *api.Document { return c.ask("POST", c.preparePath(), body) }

// callQuoteBody is the call-quote body of a signed prepared operation, paid with an aggregate or, for "", with whatever
// pays by itself.
func (c *client) callQuoteBody(prepared *api.Document, from string) string {
	c.t.Helper()
	who := c.pick("account", "accounts")
	part := func(at string) string {
		raw, ok := prepared.At(at)
		if !ok {
			c.t.Fatalf("nothing at %s", at)
		}
		return string(raw)
	}
	if from != "" {
		from = fmt.Sprintf(`,"fromAggregatedAssetId":%q`, from)
	}
	return fmt.Sprintf(`{%q:%s,"chainOperation":%s,"tamperProofSignature":%s%s}`,
		who, part("/"+who), part("/chainOperation"), part("/tamperProofSignature"), from)
}

// call prepares, signs and quotes; the quote's operations are signed.
func (c *client) call(body, from string) (signed *api.Document, id, callType string) {
	c.t.Helper()
	prepared := c.prepare(body)
	raw, _ := prepared.At("/callType")
	if err := json.Unmarshal(raw, &callType); err != nil {
		c.t.Fatal(err)
	}
	offer := c.ask("POST", c.callQuotePath(), c.callQuoteBody(c.sign(prepared, "/chainOperation"), from))
	signed, id = c.signAll(offer)
	return signed, id, callType
}

// exchange quotes a swap or transfer and signs it.
func (c *client) exchange(body string) (signed *api.Document, id string) {
	c.t.Helper()
	return c.signAll(c.ask("POST", c.quotePath(), body))
}

func (c *client) signAll(offer *api.Document) (*api.Document, string) {
	c.t.Helper()
	var q struct {
		ID                     string
		OriginChainsOperations []json.RawMessage
	}
	if err := json.Unmarshal(offer.Raw(), &q); err != nil || len(q.OriginChainsOperations) == 0 {
		c.t.Fatalf("%v: %s", err, offer.Raw())
	}
	for i := range q.OriginChainsOperations {
		offer = c.sign(offer, fmt.Sprintf("/originChainsOperations/%d", i))
	}
	return offer, q.ID
}

// finish executes a signed quote, waits for its end and returns its status.
func (c *client) finish(signed *api.Document, id string) api.ExecutionStatus {
	c.t.Helper()
	c.ask("POST", c.executePath(), string(signed.Raw()))
	if err := c.s.Idle(context.Background()); err != nil {
		c.t.Fatal(err)
	}
	return c.status(id)
}

func (c *client) status(id string) (out api.ExecutionStatus) {
	c.t.Helper()
	if err := json.Unmarshal(c.ask("GET", c.statusPath()+"/get-execution-status?quoteId="+id, "").Raw(),
		&out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

// sign signs the operation at a pointer as its kind demands (protocol §8).
func (c *client) sign(doc *api.Document, at string) *api.Document {
	c.t.Helper()
	raw, ok := doc.At(at)
	var o api.ChainOperation
	if !ok || json.Unmarshal(raw, &o) != nil {
		c.t.Fatalf("no operation at %s", at)
	}
	if o.IsSolana() {
		m, err := solmsg.ParseBase64(o.DataToSign)
		if err != nil {
			c.t.Fatal(err)
		}
		return c.splice(doc, at+"/signature",
			c.json(caip.FormatSolanaSignature([64]byte(ed25519.Sign(c.user.Solana, m.Bytes())))))
	}
	if o.Delegation != nil {
		signed, err := op.Authorization{
			ChainID: new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID),
			Address: common.HexToAddress(o.Delegation.ContractAddress), Nonce: o.Delegation.Nonce,
		}.Sign(c.user.Key)
		if err != nil {
			c.t.Fatal(err)
		}
		doc = c.splice(doc, at+"/delegation/signature", c.json(signed.Wire()))
	}
	sig, err := op.Sign(c.digest(o), c.user.Key)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.splice(doc, at+"/userOp/signature", c.json("0x"+hex.EncodeToString(sig)))
}

// digest is what the user's key signs of an EVM operation.
func (c *client) digest(o api.ChainOperation) common.Hash {
	c.t.Helper()
	if c.user.Account.Type == api.AccountRoleBased {
		domain, approved, err := op.CheckTypedData(*o.TypedDataToSign)
		if err != nil {
			c.t.Fatal(err)
		}
		return domain.ApproveDigest(approved)
	}
	o.UserOp.Signature = "0x"
	user, err := op.FromWire(*o.UserOp)
	if err != nil {
		c.t.Fatal(err)
	}
	hash, err := user.Hash(c.s.Network().Pins.EntryPoint, new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID))
	if err != nil {
		c.t.Fatal(err)
	}
	return op.EIP191(hash)
}

func (c *client) splice(doc *api.Document, at, value string) *api.Document {
	c.t.Helper()
	out, err := doc.Splice(api.Edit{Pointer: at, Value: []byte(value)})
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// refunding makes every fill find that the price has run away: what lands comes back.
func refunding(o service.Options) service.Options {
	o.Faults.PriceJump = func(string) int64 { return 5_000 }
	return o
}

// admin is a relay body with a message that the user's admin signed.
func (c *client) admin(chain, action string, session common.Address, nonce int64) string {
	c.t.Helper()
	parsed, err := caip.ParseChain(chain)
	if err != nil {
		c.t.Fatal(err)
	}
	id, _ := parsed.EVMID()
	m := op.AdminMessage{Action: action, Account: c.user.Address, NewSession: session, Nonce: big.NewInt(nonce)}
	digest, err := m.Digest(op.RoleBasedDomain(id, c.s.Network().Pins.RoleBasedValidator))
	if err != nil {
		c.t.Fatal(err)
	}
	sig, err := op.Sign(digest, c.user.Admin)
	if err != nil {
		c.t.Fatal(err)
	}
	out := api.RelayRequest{Account: c.user.Account, Chain: chain, Action: action, Nonce: fmt.Sprint(nonce),
		Signature: "0x" + hex.EncodeToString(sig)}
	if session != (common.Address{}) {
		out.NewSession = session.Hex()
	}
	return c.json(out)
}

// rotate is a relay body that gives the account a new session key on a chain.
func (c *client) rotate(chain string, to *ecdsa.PrivateKey, nonce int64) string {
	return c.admin(chain, api.AdminRotateSession, crypto.PubkeyToAddress(to.PublicKey), nonce)
}

// undelegation is the body with which the EOA ends its delegation on a chain.
func (c *client) undelegation(chainID, nonce uint64) string {
	c.t.Helper()
	a := op.Authorization{ChainID: new(big.Int).SetUint64(chainID), Nonce: nonce}
	sig, err := op.Sign(a.Hash(), c.user.Key)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.json(api.UndelegateRequest{Account: c.user.Address.Hex(), Authorization: a.With(sig).Wire()})
}
