package networks

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
)

// Solana is a Solana chain of a file. ID is its CAIP-2 id, whose reference its genesis hash begins with; inside the
// program the one Solana chain of a network has the id of the main network on every kind of network. Confirmed says
// that what two thirds of the stake voted for stays; otherwise it takes the finalized commitment. FeeCap is what the
// chain may take for a transaction at most, in lamports. Coin and Mints have no address in common with EVM chains.
type Solana struct {
	ID        caip.Chain
	Name      string
	Short     string
	RPC       []string
	Quorum    int
	Confirmed bool
	FeeCap    uint64
	Coin      Token
	Mints     []Mint
	Explorer  string
	Line      int
}

// Mint is a token on Solana.
type Mint struct {
	Key       [32]byte
	Symbol    string
	Name      string
	Decimals  int
	Aggregate caip.AggregateID
	Line      int
}

// Bounds of what a transaction may cost, in lamports: the fee of a signature, and what a wallet pays at most.
const (
	leastLamports  = 5_000
	mostLamports   = 1_000_000
	UsualLamports  = 100_000
	lamportDigits  = 9
	confirmed      = "confirmed"
	expectedSolana = `the number of the chain, such as 8453, or the CAIP-2 id of a Solana chain`
)

// Commitment is the word of Solana for when a transaction stays, and the one in the file.
func (s *Solana) Commitment() string {
	if s.Confirmed {
		return confirmed
	}
	return finalized
}

// ShippedSolana is Solana's main network, without an endpoint.
func ShippedSolana() (*Solana, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	info := known.Solana()
	s := &Solana{ID: info.Chain, Name: info.Name, Short: info.Short, Explorer: info.Explorer, Quorum: 1,
		FeeCap: UsualLamports}
	for _, e := range known.On(info.Chain) {
		if mint, token := e.Asset.Mint(); token {
			s.Mints = append(s.Mints, Mint{Key: mint, Symbol: e.Symbol, Name: e.Name, Decimals: e.Decimals,
				Aggregate: e.Aggregate})
		} else {
			s.Coin = Token{Symbol: e.Symbol, Name: e.Name, Decimals: e.Decimals, Aggregate: e.Aggregate}
		}
	}
	return s, nil
}

// ExpandSolana is Expand for an endpoint of the Solana chain.
func (f *File) ExpandSolana(ctx context.Context, endpoint string, credential Credential) (address string,
	secrets []string, err error) {
	return f.expand(ctx, f.Solana.Line, endpoint, credential)
}

// solana reads a table of chains whose id is that of a Solana chain.
func (r *reader) solana(t table, id string, kind network.Kind) *Solana {
	s, err := ShippedSolana()
	if err != nil {
		r.say(t.path, "%s", err)
		return &Solana{}
	}
	s.Mints, s.Line, s.Coin.Line = nil, r.places[t.path].line, r.places[t.path].line
	main := s.ID
	s.ID, err = caip.ParseChain(id)
	switch {
	case err != nil || !s.ID.IsSolana():
		r.say(t.at("id"), "expected solana: and the first 32 characters of the genesis hash, such as %s", main)
	case kind == network.Real && s.ID != main:
		r.say(t.at("id"), "a network of real money has Solana's main network, %s", main)
	case kind == network.Test && s.ID == main:
		r.say(t.at("id"), "this is Solana's main network, whose coins are worth something")
	}
	if name, ok := take[string](t, "name", "text such as \"Solana\""); ok {
		s.Name = name
	}
	if short, ok := take[string](t, "short", "a word such as \"sol\""); ok {
		s.Short = short
	}
	if !label(s.Name) || !word(s.Short) {
		r.say(t.at("name"), "expected a name in plain letters and digits, at most 64, and a short one without blanks")
	}
	s.RPC, s.Quorum = r.endpoints(t)
	const stays = `"finalized" or "confirmed"`
	switch final, has := take[string](t, "final", stays); {
	case has && final == confirmed:
		s.Confirmed = true
	case has && final != finalized:
		r.say(t.at("final"), "expected %s", stays)
	}
	const cost = "what a transaction may cost at most in lamports, such as 100000, from 5000 to 1000000"
	if n, ok := must[int64](t, "fee_cap_lamports", cost); ok && (n < leastLamports || n > mostLamports) {
		r.say(t.at("fee_cap_lamports"), "expected %s", cost)
	} else {
		s.FeeCap = uint64(max(n, 0))
	}
	if site, ok := take[string](t, "explorer", "an address such as \"https://solscan.io\""); ok {
		if u, err := url.Parse(site); err != nil || u.Scheme != "https" || u.Host == "" {
			r.say(t.at("explorer"), "expected an https address")
		}
		s.Explorer = site
	}
	t.tables("tokens", "a list of tokens", func(one table) { r.mint(one, s, main) })
	return s
}

func (r *reader) mint(t table, s *Solana, main caip.Chain) {
	const expected = "the base58 address of a mint"
	m := Mint{Decimals: r.decimals(t), Aggregate: r.aggregate(t, "aggregate"), Line: r.places[t.path].line}
	text, ok := must[string](t, "address", expected)
	key, err := caip.ParseSolanaKey(text)
	if ok && (err != nil || key == [32]byte{}) {
		r.say(t.at("address"), "expected %s", expected)
	}
	m.Key = key
	m.Symbol, _ = must[string](t, "symbol", "text such as \"USDC\"")
	if m.Symbol != "" && !word(m.Symbol) {
		r.say(t.at("symbol"), "expected plain letters, digits and signs without blanks, at most 64")
	}
	if m.Name = m.Symbol; s.ID == main {
		if k, known := r.known.Entity(caip.SPL(key)); known {
			m.Name = k.Name
			if k.Aggregate != m.Aggregate || k.Decimals != m.Decimals {
				r.say(t.path, "%s is %s with %d decimals", text, k.Aggregate, k.Decimals)
			}
		}
	}
	switch {
	case slices.ContainsFunc(s.Mints, func(o Mint) bool { return o.Key == m.Key }):
		r.say(t.at("address"), "this token is in the list already")
	case s.Coin.Aggregate == m.Aggregate && m.Aggregate != "",
		slices.ContainsFunc(s.Mints, func(o Mint) bool { return o.Aggregate == m.Aggregate && o.Aggregate != "" }):
		r.say(t.at("aggregate"), "another asset of this chain is %s already", m.Aggregate)
	}
	s.Mints = append(s.Mints, m)
}

const solanaHead = `
# A Solana chain: id is solana: and the first 32 characters of its genesis hash; final is "finalized" (about 13 seconds)
# or "confirmed" (about a second: it trusts that two thirds of the stake do not vote otherwise later); fee_cap_lamports
# is what a transaction may cost at most. The address of a token is its mint.
`

// encode writes the table.
func (s *Solana) encode() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s[[chains]]\nid = %q\nname = %s\nshort = %s\nrpc = %s\nquorum = %d\nfinal = %q\n"+
		"fee_cap_lamports = %d\n", solanaHead, s.ID, quote(s.Name), quote(s.Short), quoted(s.RPC), s.Quorum,
		s.Commitment(), s.FeeCap)
	if s.Explorer != "" {
		fmt.Fprintf(&b, "explorer = %s\n", quote(s.Explorer))
	}
	b.WriteString("tokens = [\n")
	for _, m := range s.Mints {
		fmt.Fprintf(&b, "  { symbol = %s, address = %q, decimals = %d, aggregate = %s },\n", quote(m.Symbol),
			caip.FormatSolanaKey(m.Key), m.Decimals, quote(string(m.Aggregate)))
	}
	b.WriteString("]\n")
	return b.String()
}

// quoted writes a list of texts.
func quoted(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quote(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}
