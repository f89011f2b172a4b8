package networks

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Elsewhere is where an attester of an operator is reached that is not in its own service. CA is a file with the
// certificates that its own follows from, "" for those of the system; it lies beside the file of the network where its
// path is not absolute. Key names the API key that it asks for, as ${vault:NAME}.
type Elsewhere struct {
	Attester common.Address
	URL      string
	CA       string
	Key      string
	Line     int
}

// Kinds of signers outside this program.
const (
	Web3Signer = "web3signer"
	Clef       = "clef"
	Command    = "command"

	hotKey = "hot_key" // the table of the key that sends
)

// Signer is a signer outside this program that has the key of Address. URL and CA are those of one that is reached by
// HTTP, Command is a program with its arguments. A Clef signs transactions of one chain: Chains are the URLs of others
// with the same key, by the chain that each is for.
type Signer struct {
	Kind    string
	Address common.Address
	URL, CA string
	Chains  map[uint64]string
	Command []string
	Line    int
}

// Bounds of what the tables say.
const (
	maxWords = 32  // of a command
	maxWord  = 512 // bytes of one
)

// elsewhere reads where attesters are reached.
func (r *reader) elsewhere(t table, o *Operator) {
	t.tables("elsewhere", "tables that begin with [[operator.elsewhere]]", func(one table) {
		e := Elsewhere{Line: r.places[one.path].line}
		if s, ok := must[string](one, "attester", "the address of an attester of the list"); ok {
			e.Attester = r.person(one.at("attester"), s)
			known := slices.ContainsFunc(o.Elsewhere, func(x Elsewhere) bool { return x.Attester == e.Attester })
			switch {
			case e.Attester == (common.Address{}):
			case !slices.Contains(o.Attesters, e.Attester):
				r.say(one.at("attester"), "this attester is not in the list attesters")
			case known:
				r.say(one.at("attester"), "where this attester is reached is in the file already")
			}
		}
		e.URL = r.reached(one, "url")
		e.CA, _ = take[string](one, "ca", "a file with certificates")
		e.Key, _ = must[string](one, "key", "the API key that it asks for, as ${vault:NAME}")
		if e.Key != "" && !wholeReference.MatchString(e.Key) {
			r.say(one.at("key"), "a key is not in this file: write ${vault:NAME}, with lower-case letters, digits, - "+
				"and _ in NAME")
		}
		o.Elsewhere = append(o.Elsewhere, e)
	})
}

// reached reads a URL of a table, without credentials.
func (r *reader) reached(t table, key string) string {
	s, ok := must[string](t, key, "an address such as https://attester.example")
	if !ok {
		return ""
	}
	if err := CheckEndpoint(s); err != nil {
		r.say(t.at(key), "%v", err)
	} else if reference.MatchString(s) {
		r.say(t.at(key), "no credential is part of this address")
	}
	return s
}

// clefs reads which Clef signs for which chain.
func (r *reader) clefs(t table) map[uint64]string {
	v, has := take[map[string]any](t, "chains", "a table with the address of a Clef for each chain")
	if !has {
		return nil
	}
	out := map[uint64]string{}
	one := table{r, t.at("chains"), v}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		id, err := strconv.ParseUint(key, 10, 64)
		if err != nil {
			r.say(one.at(key), "expected the number of a chain")
			continue
		}
		out[id] = r.reached(one, key)
	}
	return out
}

// eachChainSigns demands a Clef of its own for every chain, of which the one at the URL is for one.
func (r *reader) eachChainSigns(s *Signer, chains []Chain) {
	at := join("operator", hotKey)
	for id := range s.Chains {
		if !slices.ContainsFunc(chains, func(c Chain) bool { return c.ID == id }) {
			r.say(join(join(at, "chains"), strconv.FormatUint(id, 10)), "this chain is not in the file")
		}
	}
	var rest []string
	for _, c := range chains {
		if s.Chains[c.ID] == "" && len(c.RPC) > 0 {
			rest = append(rest, strconv.FormatUint(c.ID, 10))
		}
	}
	if len(rest) > 1 {
		r.say(at, "a Clef signs transactions of one chain (its --chainid), and %s have none but that of url: name one "+
			"for each of the others in [%s.chains]", strings.Join(rest, ", "), at)
	}
}

// signer reads the table of a signer; nil without one.
func (r *reader) signer(t table, key string) *Signer {
	v, has := t.left[key]
	delete(t.left, key)
	if !has {
		return nil
	}
	one, ok := r.table(t.at(key), v)
	if !ok {
		return nil
	}
	s := &Signer{Line: r.places[one.path].line}
	const kinds = `"web3signer", "clef" or "command"`
	s.Kind, _ = must[string](one, "signer", kinds)
	if text, ok := must[string](one, "address", "the address of the key"); ok {
		s.Address = r.person(one.at("address"), text)
	}
	switch s.Kind {
	case Web3Signer, Clef:
		s.URL = r.reached(one, "url")
		s.CA, _ = take[string](one, "ca", "a file with certificates")
		if s.Kind == Clef && key == hotKey {
			s.Chains = r.clefs(one)
		}
	case Command:
		s.Command = r.command(one)
	case "":
	default:
		r.say(one.at("signer"), "expected "+kinds)
	}
	one.end()
	return s
}

// command reads a program and its arguments.
func (r *reader) command(t table) (out []string) {
	const expected = "a program with its arguments, in a list of text"
	list, _ := must[[]any](t, "command", expected)
	for i, v := range list {
		s, is := v.(string)
		if !is || s == "" && i == 0 || len(s) > maxWord || strings.ContainsRune(s, 0) {
			r.say(index(t.at("command"), i), "expected "+expected)
		}
		out = append(out, s)
	}
	if len(out) > maxWords || list != nil && len(out) == 0 {
		r.say(t.at("command"), "expected %s, at most %d", expected, maxWords)
	}
	return out
}

// Beside is a path as a file of a network names it: relative ones begin where the file lies.
func (f *File) Beside(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.Path), path)
}

// Secret finds the API key of an attester elsewhere.
func (f *File) Secret(ctx context.Context, e Elsewhere, credential Credential) (string, error) {
	name := wholeReference.Regexp().FindStringSubmatch(e.Key)[1]
	if credential == nil {
		return "", fmt.Errorf("%s: %s needs the key %q of a vault", f.Where(e.Line), Host(e.URL), name)
	}
	return credential(ctx, name, Host(e.URL))
}

// encode writes the table.
func (e Elsewhere) encode() string {
	out := fmt.Sprintf("\n[[operator.elsewhere]]\nattester = %q\nurl = %q\nkey = %q\n", e.Attester.Hex(), e.URL, e.Key)
	if e.CA != "" {
		out += "ca = " + strconv.Quote(e.CA) + "\n"
	}
	return out
}

// encode writes the table of a key; nothing for nil.
func (s *Signer) encode(key string) string {
	if s == nil {
		return ""
	}
	out := fmt.Sprintf("\n[operator.%s]\nsigner = %q\naddress = %q\n", key, s.Kind, s.Address.Hex())
	if s.URL != "" {
		out += "url = " + strconv.Quote(s.URL) + "\n"
	}
	if s.CA != "" {
		out += "ca = " + strconv.Quote(s.CA) + "\n"
	}
	if len(s.Chains) > 0 {
		urls := make([]string, 0, len(s.Chains))
		for _, id := range slices.Sorted(maps.Keys(s.Chains)) {
			urls = append(urls, fmt.Sprintf("%d = %q", id, s.Chains[id]))
		}
		out += "chains = { " + strings.Join(urls, ", ") + " }\n"
	}
	if len(s.Command) > 0 {
		words := make([]string, len(s.Command))
		for i, w := range s.Command {
			words[i] = strconv.Quote(w)
		}
		out += "command = [" + strings.Join(words, ", ") + "]\n"
	}
	return out
}
