package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/text"
)

// The limits of what is well: the time of one answer, and the difference of the service's clock.
const (
	slowAnswer = 2 * time.Second
	warnSkew   = 5 * time.Second
	badSkew    = 30 * time.Second
)

// Reach examines the service alone: whether it answers and takes the API key, whether it is the network of the
// profile, its clock, and whether it returns balances. After an answer that makes the rest pointless, such as a
// refused key, the rest is Unknown.
func Reach(ctx context.Context, d Deps) []Finding {
	if d.Service == nil {
		f := Finding{Area: AreaService, Name: "reached", Level: Unknown, Text: "not asked"}
		if d.Broken != nil {
			f.is(Bad, words(d.Broken), cmp.Or(d.Todo, "fix this first; the checks below depend on it"))
		}
		return []Finding{f}
	}
	began := d.Clock()
	chains, err := d.Service.Chains(ctx)
	out := d.reached(err, d.Clock().Sub(began))
	var answer *api.Error
	if err == nil || errors.As(err, &answer) { // else it would say the same once more
		out = append(out, d.transport(ctx)...)
	}
	if err != nil {
		return append(out, rest("network", "chains", "clock", "balances")...)
	}
	return append(out, d.identity(ctx), d.chains(chains), skew(d.Service.Skew()), d.balances(ctx))
}

func rest(names ...string) []Finding {
	out := make([]Finding, len(names))
	for i, n := range names {
		area := AreaService
		if n == "network" || n == "chains" {
			area = AreaNetwork
		}
		out[i] = Finding{Area: area, Name: n, Level: Unknown, Text: "not known: the service gave no answer that tells"}
	}
	return out
}

// reached reports whether the service answered, and what it says of the API key: an answer of any kind means that it
// was reached.
func (d Deps) reached(err error, took time.Duration) []Finding {
	reached := Finding{Area: AreaService, Name: "reached", Text: fmt.Sprintf("answered in %d ms", took.Milliseconds())}
	key := Finding{Area: AreaService, Name: "API key", Text: "accepted"}
	if took > slowAnswer {
		reached.Level, reached.Todo = Warn, "a slow line or a busy service: quotes may expire before they are confirmed"
	}
	var no *api.Error
	switch {
	case err == nil:
	case errors.As(err, &no):
		key = keyFinding(no)
	default:
		reached.Level, reached.Text = Bad, words(err)
		reached.Todo = unreachedTodo(err, d.Clock())
		key.Level, key.Text = Unknown, "not known: the service was not reached"
	}
	if d.Profile.Local() {
		key.Text = "not needed: the service is inside this program"
	}
	return []Finding{reached, key}
}

// keyFinding distinguishes a key that is not known, one without the permission, and one over its rate.
func keyFinding(no *api.Error) Finding {
	f := Finding{Area: AreaService, Name: "API key", Level: Bad}
	switch no.Name {
	case api.ErrUnauthorized:
		f.Text, f.Todo = "not accepted (401)", "ask the operator for another key and store it: coffer keys api-key set"
	case api.ErrForbidden:
		f.Text, f.Todo = "good, but not allowed to read (403)", "ask the operator for a key with the permission read"
	case api.ErrTooManyRequests:
		f.is(Warn, "good, but too many requests were made with it (429)",
			"wait a minute, or ask the operator for a higher limit")
	default:
		f.is(Unknown, "the service failed: "+text.Clean(no.Message, maxText),
			"try again; if it stays so, tell the operator")
	}
	return f
}

func unreachedTodo(err error, now time.Time) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "the service's certificate is not signed by the CA in ca_file, or ca_file is not set: get ca.pem from " +
			"the " +
			"operator"
	case errors.As(err, &host):
		return "the certificate is for another name: check the address"
	case errors.As(err, &invalid):
		const clock = ": check this machine's clock; if it is right, tell the operator"
		if invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore) {
			return "the certificate is valid from " + invalid.Cert.NotBefore.UTC().Format(time.DateOnly) + clock
		}
		if invalid.Reason == x509.Expired && invalid.Cert != nil {
			return "the certificate expired on " + invalid.Cert.NotAfter.UTC().Format(time.DateOnly) + clock
		}
		return "the certificate is not valid" + clock
	}
	return "check the address, the line and the proxy, and that the service runs"
}

// transport reports how the connection is protected and whether it passes a proxy.
func (d Deps) transport(ctx context.Context) []Finding {
	if d.TLS == nil {
		return nil
	}
	f := Finding{Area: AreaService, Name: "TLS"}
	if proxy := d.Service.Proxy(); proxy != "" {
		f.Level, f.Text = Unknown, "not looked at, as the proxy "+text.Clean(proxy, 80)+
			" is in between; it sees when and how much, never what"
		return []Finding{f}
	}
	state, err := d.TLS(ctx)
	if err != nil {
		f.is(Bad, words(err), unreachedTodo(err, d.Clock()))
		return []Finding{f}
	}
	f.Text = tls.VersionName(state.Version)
	if len(state.PeerCertificates) == 0 {
		return []Finding{f}
	}
	leaf := state.PeerCertificates[0]
	f.Text += ", certificate by " + issuer(leaf) + ", until " + leaf.NotAfter.UTC().Format(time.DateOnly)
	if left := leaf.NotAfter.Sub(d.Clock()); left < 7*24*time.Hour {
		f.Level, f.Todo = Warn, "the certificate ends soon: tell the operator"
	}
	return []Finding{f}
}

func issuer(c *x509.Certificate) string {
	name := c.Issuer.CommonName
	if name == "" {
		name = strings.Join(c.Issuer.Organization, " ")
	}
	if name == "" {
		return "an issuer without a name"
	}
	return text.Clean(name, 80)
}

// Probe keys: no user holds them, and they are the same in every installation, so that a service which hands out test
// funds does it once.
var (
	probeSession = common.HexToAddress("0x00000000000000000000000000000000c0ffe501")
	probeAdmin   = common.HexToAddress("0x00000000000000000000000000000000c0ffe502")
)

// identity determines by itself whether the service runs the network of the profile: the address of a role-based
// account depends on the co-signer, which differs in every installation. It asks the service for an address, and never
// takes pins from it.
func (d Deps) identity(ctx context.Context) Finding {
	f := Finding{Area: AreaNetwork, Name: "network", Text: "the service computes addresses as network " +
		short(d.Network) + " does"}
	said, err := d.Service.PredictAddress(ctx, api.PredictRequest{SessionAddress: probeSession.Hex(),
		AdminAddress: probeAdmin.Hex()})
	if err != nil {
		f.is(Unknown, "could not be compared: "+words(err),
			"an API key with the permission quote is needed for it")
		return f
	}
	p := d.Network.Pins
	init := op.InitDataRoleBased(p.RoleBasedValidator, probeSession, probeAdmin, p.CoSigner)
	if want := op.PredictAddress(p.Factory, p.KernelV31, init,
		new(big.Int)); want != common.HexToAddress(said.PredictedAddress) {
		f.Level, f.Text = Bad, "the service runs another network than "+short(d.Network)+": it computes other addresses"
		f.Todo =
			"compare address, network file and fingerprint with the operator's; nothing is signed for another network"
	}
	return f
}

func short(n network.Descriptor) string {
	s := n.Fingerprint()
	return s[:min(len(s), 9)]
}

// chains compares the chains of the service's list with those of the network file and of the catalogue.
func (d Deps) chains(said []api.SupportedChain) Finding {
	f := Finding{Area: AreaNetwork, Name: "chains"}
	var have []string
	for _, c := range said {
		have = append(have, c.Chain.Chain)
	}
	var missing, unknown []string
	for _, id := range d.Network.Chains {
		if strings.HasPrefix(id, "eip155:") && !slices.Contains(have, id) {
			missing = append(missing, id)
		}
	}
	for _, id := range have {
		if !slices.Contains(d.Network.Chains, id) {
			unknown = append(unknown, text.Clean(id, 40))
		}
	}
	var foreign []string
	for _, id := range d.Network.Chains {
		if chain, err := caip.ParseChain(id); d.Catalog != nil && err == nil {
			if _, known := d.Catalog.Chain(chain); !known {
				foreign = append(foreign, id)
			}
		}
	}
	f.Text = fmt.Sprintf("%d chains, those of the network file", len(have))
	switch {
	case len(missing) > 0:
		f.is(Warn, "the service does not list "+strings.Join(missing, ", "),
			"calls and payments on these fail; ask the operator")
	case len(unknown) > 0:
		f.is(Warn, "the service lists chains that the network file does not have: "+
			strings.Join(unknown[:min(len(unknown), 5)], ", "), "nothing is signed there")
	case len(foreign) > 0:
		f.is(Warn, "this program does not know "+text.Clean(strings.Join(foreign, ", "), 200),
			"a newer version may; what is there is not shown")
	}
	return f
}

func skew(by time.Duration) Finding {
	f := Finding{Area: AreaService, Name: "clock", Text: "less than a second away from this machine's"}
	away := by.Abs()
	if away < time.Second {
		return f
	}
	side := "ahead of"
	if by < 0 {
		side = "behind"
	}
	f.Text = fmt.Sprintf("%s %s this machine's", away.Round(time.Second), side)
	switch {
	case away >= badSkew:
		f.Level, f.Todo = Bad,
			"set the clock of this machine (or the service's): quotes look expired or too long-lived and are refused"
	case away >= warnSkew:
		f.Level, f.Todo = Warn, "let this machine take its time from the network: countdowns are off by that much"
	}
	return f
}

// MakeAccount is what to do in a profile that has no account.
const MakeAccount = "make a key and an account: coffer keys new, then coffer accounts add"

// balances asks for the balances, or says that there is no account that could have any.
func (d Deps) balances(ctx context.Context) Finding {
	f := Finding{Area: AreaService, Name: "balances"}
	if len(d.Query.Accounts) == 0 {
		f.Name = "account"
		f.is(Warn, "this profile has none: there are no balances, and nothing can be signed", MakeAccount)
		return f
	}
	b, err := d.Service.Balances(ctx, d.Query)
	if err != nil {
		f.is(Bad, words(err), "try again; if it stays so, tell the operator")
		return f
	}
	held := 0
	for _, a := range b.BalanceByAggregatedAsset {
		if a.Balance != "" && a.Balance != "0" {
			held++
		}
	}
	f.Text = fmt.Sprintf("read: %d of %d assets held", held, len(b.BalanceByAggregatedAsset))
	for _, u := range b.Unreachable {
		f.Level, f.Todo = Warn, "see to the nodes of that chain: its balances are unknown, and nothing is sent there"
		f.Text += "; " + text.Clean(u.Chain+" cannot be asked: "+u.Message, maxText)
	}
	return f
}

// Well reports that no finding is bad.
func Well(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Level == Bad })
}

var _ Service = (*client.Client)(nil)
