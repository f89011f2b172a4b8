package networks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/files"
	"coffer/api/network"
)

// Bounds of what a file says.
const (
	maxQuorum    = 16
	maxFinal     = 100_000
	maxHeartbeat = 7 * 24 * time.Hour
	maxFeeCap    = 1_000_000 // gwei
)

// Parse reads and checks the content of a file; path only appears in errors. Its error joins a *files.Fault for each
// fault, in the order of the lines; text that is no TOML is one fault.
func Parse(path string, raw []byte) (*File, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	var whole map[string]any
	if err := toml.Unmarshal(raw, &whole); err != nil {
		f := &files.Fault{Path: path, Problem: "this is no TOML that can be read"}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			f.Line, f.Column = at.Position()
			f.Problem = strings.TrimPrefix(at.Error(), "toml: ")
		}
		return nil, f
	}
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, places: placesOf(raw), known: known}
	f := r.file(whole)
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *files.Fault) int {
			return cmp.Or(a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Key, b.Key))
		})
		all := make([]error, len(r.faults))
		for i, fault := range r.faults {
			all[i] = fault
		}
		return nil, errors.Join(all...)
	}
	return f, nil
}

// place is where something stands in a file.
type place struct{ line, column int }

// placesOf finds where the keys and the members of lists stand, by their paths, such as chains[0].rpc[1]. The text has
// been read before.
func placesOf(raw []byte) map[string]place {
	var p unstable.Parser
	p.Reset(raw)
	out, counts, table := map[string]place{}, map[string]int{}, ""
	lines := []int{0} // where they begin
	for i, c := range raw {
		if c == '\n' {
			lines = append(lines, i+1)
		}
	}
	note := func(path string, r unstable.Range) {
		if _, known := out[path]; !known && r.Length > 0 {
			n := sort.SearchInts(lines, int(r.Offset)+1)
			out[path] = place{n, int(r.Offset) - lines[n-1] + 1}
		}
	}
	// header is the path of a header's key: a list of tables on the way means its newest table.
	header := func(it unstable.Iterator, grows bool) string {
		path := ""
		for it.Next() {
			path = join(path, string(it.Node().Data))
			at := it.Node().Raw
			note(path, at)
			n, list := counts[path]
			switch {
			case it.IsLast() && grows:
				counts[path]++
				path = index(path, n)
				note(path, at)
			case list:
				path = index(path, n-1)
			}
		}
		return path
	}
	var value func(path string, n *unstable.Node)
	pair := func(path string, n *unstable.Node) {
		for it := n.Key(); it.Next(); {
			path = join(path, string(it.Node().Data))
			note(path, it.Node().Raw)
		}
		value(path, n.Value())
	}
	value = func(path string, n *unstable.Node) {
		i := 0
		for it := n.Children(); it.Next(); {
			switch child := it.Node(); {
			case child.Kind == unstable.Comment:
			case n.Kind == unstable.InlineTable:
				pair(path, child)
			default:
				note(index(path, i), child.Raw)
				value(index(path, i), child)
				i++
			}
		}
	}
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = header(e.Key(), false)
		case unstable.ArrayTable:
			table = header(e.Key(), true)
		case unstable.KeyValue:
			pair(table, e)
		}
	}
	return out
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// reader collects faults. subject is what a fault is about, such as the chain.
type reader struct {
	path    string
	places  map[string]place
	known   *catalog.Catalog
	faults  []*files.Fault
	subject string
}

// say notes a fault of what stands at a path of the file; of a key that is missing, the place is that of its table.
func (r *reader) say(path, problem string, args ...any) {
	at, found := r.places[path]
	for up := path; !found && up != ""; {
		up = up[:max(strings.LastIndexAny(up, ".["), 0)]
		at, found = r.places[up]
	}
	key := path
	if r.subject != "" {
		key = r.subject
		if _, rest, ok := strings.Cut(path, "]."); ok {
			key += ": " + rest
		}
	}
	r.faults = append(r.faults, &files.Fault{Path: r.path, Line: at.line, Column: at.column, Key: key,
		Problem: fmt.Sprintf(problem, args...)})
}

// table is one table of the file. Its keys are taken out one by one; what is left at the end is unknown.
type table struct {
	*reader
	path string
	left map[string]any
}

func (r *reader) table(path string, v any) (table, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		r.say(path, "expected a table")
	}
	return table{r, path, m}, ok
}

func (t table) at(key string) string { return join(t.path, key) }

// end says which keys nothing reads.
func (t table) end() {
	for key := range t.left {
		t.say(t.at(key), "there is no such key")
	}
}

// take takes the value of a key out of a table.
func take[T any](t table, key, expected string) (v T, found bool) {
	raw, there := t.left[key]
	delete(t.left, key)
	if v, found = raw.(T); there && !found {
		t.say(t.at(key), "expected %s", expected)
	}
	return v, found
}

// must is take for a key that every table of its kind has.
func must[T any](t table, key, expected string) (v T, found bool) {
	if _, there := t.left[key]; !there {
		t.say(t.at(key), "this key is missing: %s", expected)
		return v, false
	}
	return take[T](t, key, expected)
}

// tables takes a list of tables, each with its path.
func (t table) tables(key, expected string, each func(table)) {
	list, _ := take[[]any](t, key, expected)
	for i, v := range list {
		if one, ok := t.table(index(t.at(key), i), v); ok {
			each(one)
			one.end()
		}
	}
}

func (r *reader) file(whole map[string]any) *File {
	t, f := table{r, "", whole}, &File{Path: r.path}
	kind, ok := must[string](t, "kind", `"real", "test" or "lab"`)
	switch f.Kind = network.Kind(kind); f.Kind {
	case network.Real, network.Test, network.Lab:
	default:
		if ok {
			r.say("kind", `expected "real", "test" or "lab"`)
		}
	}
	seen := map[uint64]bool{}
	var all []Chain
	var ofSolana []*Solana
	place := "" // of the newest
	t.tables("chains", "tables that begin with [[chains]]", func(one table) {
		if id, is := one.left["id"].(string); is {
			delete(one.left, "id")
			r.subject, place = id, one.path
			if len(ofSolana) > 0 {
				r.say(one.at("id"), "a network has one Solana chain, and one is in the file already")
			}
			ofSolana = append(ofSolana, r.solana(one, id, f.Kind))
			return
		}
		c := r.chain(one, f.Kind)
		switch {
		case c.ID != 0 && seen[c.ID]:
			r.say(one.at("id"), "this chain is in the file already")
		case c.ID != 0 && slices.ContainsFunc(all, func(o Chain) bool {
			return o.Name == c.Name || o.Short == c.Short
		}):
			r.say(one.at("name"), "another chain has this name")
		}
		seen[c.ID] = true
		all = append(all, c)
	})
	r.subject = ""
	if v, has := t.left["operator"]; has {
		delete(t.left, "operator")
		if one, ok := r.table("operator", v); ok {
			f.Operator = r.operator(one)
			if key := f.Operator.HotKey; key != nil && key.Kind == Clef {
				r.eachChainSigns(key, all)
			}
		}
	}
	t.end()
	for _, s := range ofSolana {
		r.subject = s.ID.String()
		if len(s.RPC) == 0 {
			f.IdleSolana = s
			continue
		}
		if f.Solana = s; f.Operator != nil {
			r.say(place, "an operator serves EVM chains: Solana has no deposit program yet, so leave it out")
		}
	}
	r.subject = ""
	for _, c := range all {
		if len(c.RPC) > 0 {
			f.Chains = append(f.Chains, c)
		} else {
			f.Idle = append(f.Idle, c)
		}
	}
	switch {
	case len(r.faults) > 0:
	case len(f.Chains) == 0 && f.Solana != nil:
		r.say("", "no EVM chain has an endpoint: a network needs one beside Solana")
	case len(f.Chains) == 0:
		r.say("", "no chain has an endpoint: write yours into the line rpc of a chain")
	}
	if len(r.faults) == 0 {
		r.aggregates(f)
	}
	return f
}

// chain reads a table of chains.
func (r *reader) chain(t table, kind network.Kind) (c Chain) {
	r.subject = t.path
	id, ok := must[int64](t, "id", expectedSolana)
	if ok && id <= 0 {
		r.say(t.at("id"), "expected "+expectedSolana)
		id = 0
	}
	if id > 0 {
		r.subject = fmt.Sprintf("chain %d", id)
	}
	c = Chain{ID: uint64(max(id, 0)), Quorum: 1, Line: r.places[t.path].line}
	known, isKnown := r.known.Chain(caip.EVM(c.ID))
	c.Name, c.Short, c.Explorer = known.Name, known.Short, known.Explorer
	if s, ok := take[string](t, "name", "text such as \"Base\""); ok {
		c.Name = s
	} else if !isKnown {
		r.say(t.at("name"), "this key is missing: the name of the chain")
	}
	if s, ok := take[string](t, "short", "a word such as \"base\""); ok {
		c.Short = s
	} else if !isKnown {
		c.Short = strings.ToLower(strings.ReplaceAll(c.Name, " ", "-"))
	}
	if c.Name != "" && (!label(c.Name) || !word(c.Short)) {
		r.say(t.at("name"), "expected a name in plain letters and digits, at most 64, and a short one without blanks")
	}
	c.RPC, c.Quorum = r.endpoints(t)
	r.finality(t, &c, kind)
	r.worst(t, &c)
	r.feeCap(t, &c)
	if s, ok := take[string](t, "explorer", "an address such as \"https://basescan.org\""); ok {
		if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" {
			r.say(t.at("explorer"), "expected an https address")
		}
		c.Explorer = s
	}
	r.coin(t, &c)
	t.tables("tokens", "a list of tokens", func(one table) { r.token(one, &c) })
	t.tables("feeds", "a list of price feeds", func(one table) { r.feed(one, &c) })
	return c
}

// endpoints reads the nodes of a chain, and how many of them must agree.
func (r *reader) endpoints(t table) (rpc []string, quorum int) {
	list, ok := must[[]any](t, "rpc", `the addresses of your nodes, such as ["https://node.example"]; [] leaves the `+
		`chain out`)
	for i, v := range list {
		at := index(t.at("rpc"), i)
		s, isText := v.(string)
		switch err := CheckEndpoint(s); {
		case !isText:
			r.say(at, "expected an address in quotes")
		case err != nil:
			r.say(at, "%s: %s", Host(s), err)
		case slices.Contains(rpc, s):
			r.say(at, "%s: this endpoint is in the list already", Host(s))
		}
		rpc = append(rpc, s)
	}
	quorum = 1
	if len(rpc) > 1 {
		quorum = 2
	}
	n, has := take[int64](t, "quorum", "a number such as 2")
	switch {
	case !has:
	case n < 1 || n > maxQuorum || ok && len(rpc) > 0 && int(n) > len(rpc):
		r.say(t.at("quorum"), "%d endpoints cannot give %d equal answers", len(rpc), n)
	default:
		quorum = int(n)
	}
	return rpc, quorum
}

func (r *reader) finality(t table, c *Chain, kind network.Kind) {
	const expected = `"finalized", or how many blocks above make one final, such as 20`
	v, has := take[any](t, "final", expected)
	if n, ok := v.(int64); ok {
		if n < 0 || n > maxFinal {
			r.say(t.at("final"), "expected %s", expected)
		} else if n == 0 && kind == network.Real {
			r.say(t.at("final"), "a block of a real chain is not final at once: expected %s", expected)
		}
		c.Final = Finality{Counted: true, Blocks: uint64(max(n, 0))}
	} else if has && v != finalized {
		r.say(t.at("final"), "expected %s", expected)
	}
}

func (r *reader) feeCap(t table, c *Chain) {
	const expected = "what a unit of gas may cost at most, in gwei, such as 5 or 0.1"
	c.FeeCap = new(big.Int)
	v, ok := must[any](t, "fee_cap_gwei", expected)
	if !ok {
		return
	}
	parsed, ok := figure(v, gwei)
	most := new(big.Int).Mul(big.NewInt(maxFeeCap), amount.One(gwei))
	if !ok || parsed.Sign() == 0 || parsed.Cmp(most) > 0 {
		r.say(t.at("fee_cap_gwei"), "expected %s", expected)
		return
	}
	c.FeeCap = parsed
}

const expectedAggregate = `an asset such as "ob:usdc"`

// coin reads which asset the native coin is.
func (r *reader) coin(t table, c *Chain) {
	c.Coin = Token{Decimals: 18, Line: c.Line}
	e, known := r.known.NativeOf(c.ID)
	if known {
		c.Coin.Symbol, c.Coin.Name, c.Coin.Aggregate = e.Symbol, e.Name, e.Aggregate
	}
	if _, there := t.left["coin"]; !there && known {
		return
	}
	c.Coin.Aggregate = r.aggregate(t, "coin")
	if a, found := r.known.Aggregate(c.Coin.Aggregate); found {
		c.Coin.Symbol, c.Coin.Name = a.Symbol, a.Name
	} else {
		_, id, _ := strings.Cut(string(c.Coin.Aggregate), ":")
		c.Coin.Symbol, c.Coin.Name = strings.ToUpper(id), strings.ToUpper(id)
	}
}

func (r *reader) aggregate(t table, key string) caip.AggregateID {
	s, ok := must[string](t, key, expectedAggregate)
	id, err := caip.ParseAggregate(s)
	if ok && (err != nil || id == caip.Single) {
		r.say(t.at(key), "expected %s", expectedAggregate)
	}
	return id
}

func (r *reader) address(t table) (a common.Address) {
	const expected = "0x and 40 hex digits, correct letter case"
	s, ok := must[string](t, "address", expected)
	a, err := caip.ParseAddress(s)
	if ok && (err != nil || caip.CheckEIP55(s) != nil || a == common.Address{}) {
		r.say(t.at("address"), "expected %s", expected)
	}
	return a
}

func (r *reader) decimals(t table) int {
	n, ok := must[int64](t, "decimals", "a number from 0 to 18")
	if ok && (n < 0 || n > 18) {
		r.say(t.at("decimals"), "expected a number from 0 to 18")
	}
	return int(n)
}

func (r *reader) token(t table, c *Chain) {
	e := Token{Address: r.address(t), Decimals: r.decimals(t), Aggregate: r.aggregate(t, "aggregate"),
		Line: r.places[t.path].line}
	e.Symbol, _ = must[string](t, "symbol", "text such as \"USDC\"")
	if e.Symbol != "" && !word(e.Symbol) {
		r.say(t.at("symbol"), "expected plain letters, digits and signs without blanks, at most 64")
	}
	if e.Name = e.Symbol; c.ID != 0 {
		if k, known := r.known.Entity(caip.ERC20(c.ID, e.Address)); known {
			e.Name = k.Name
			if k.Aggregate != e.Aggregate || k.Decimals != e.Decimals {
				r.say(t.path, "%s is %s with %d decimals", e.Address.Hex(), k.Aggregate, k.Decimals)
			}
		}
	}
	list, _ := take[[]any](t, "powers", "a list such as [\"blocklist\"]")
	for i, v := range list {
		s, _ := v.(string)
		if !slices.Contains(Powers(), s) {
			r.say(index(t.at("powers"), i), "expected one of %s", strings.Join(Powers(), ", "))
		}
		e.Powers = append(e.Powers, s)
	}
	switch {
	case slices.ContainsFunc(c.Tokens, func(o Token) bool { return o.Address == e.Address }):
		r.say(t.at("address"), "this token is in the list already")
	case c.Coin.Aggregate == e.Aggregate && e.Aggregate != "",
		slices.ContainsFunc(c.Tokens, func(o Token) bool { return o.Aggregate == e.Aggregate && o.Aggregate != "" }):
		r.say(t.at("aggregate"), "another asset of this chain is %s already", e.Aggregate)
	}
	c.Tokens = append(c.Tokens, e)
}

func (r *reader) feed(t table, c *Chain) {
	const expected = `how old an answer may become, such as "1h"`
	e := Feed{Aggregate: r.aggregate(t, "aggregate"), Address: r.address(t), Decimals: r.decimals(t),
		Line: r.places[t.path].line}
	s, ok := must[string](t, "heartbeat", expected)
	d, err := time.ParseDuration(s)
	if ok && (err != nil || d < time.Second || d > maxHeartbeat) {
		r.say(t.at("heartbeat"), "expected %s, at most a week", expected)
	}
	e.Heartbeat = d
	if slices.ContainsFunc(c.Feeds, func(o Feed) bool { return o.Aggregate == e.Aggregate && o.Aggregate != "" }) {
		r.say(t.at("aggregate"), "%s has a feed on this chain already", e.Aggregate)
	}
	c.Feeds = append(c.Feeds, e)
}

// aggregates finds what only the chains together show.
func (r *reader) aggregates(f *File) {
	if _, err := f.Catalog(); err != nil && len(f.Chains) > 0 {
		r.say("", "%s", strings.TrimPrefix(err.Error(), f.Path+": "))
	}
}

// label allows printable ASCII, word none with blanks, both at most 64 characters.
func label(s string) bool { return text(s, ' ') }

func word(s string) bool { return text(s, '!') }

func text(s string, lowest byte) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if s[i] < lowest || s[i] > '~' {
			return false
		}
	}
	return true
}
