package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// NodesFile proposes the networks.toml of a set-up: the one of the working directory, "" where there is none.
func (h Host) NodesFile() string {
	path, err := filepath.Abs(networks.Name)
	if info, errStat := os.Stat(path); err != nil || errStat != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// OnNodes makes of p a profile on the own nodes of a networks.toml, whose kind and network it takes from the files. It
// asks no node. Needs are the keys that the nodes ask for. An error is a whole sentence for the person.
func (h Host) OnNodes(p config.Profile, path string) (_ config.Profile, n network.Descriptor, needs []networks.Need,
	err error) {
	file, err := networks.Load(path)
	if err == nil {
		needs = file.Needs()
		for _, need := range needs {
			if _, err = hostOf(file, need.Name); err != nil {
				break
			}
		}
	}
	if err == nil {
		p.Networks, p.Kind, p.NetworkID = path, file.Kind, ""
		n, err = OwnNetwork(p)
	}
	if err != nil {
		return p, n, nil, errors.New(strings.TrimRight(err.Error()+". "+cli.Hint(err), ". "))
	}
	p.NetworkID = n.ID
	if err := h.CanAdd(p); err != nil {
		return p, n, nil, errors.New(Refusal(p.Name, err))
	}
	return p, n, needs, nil
}

// TryNodes tries everything that the networks.toml of a plan names, as `coffer network check` does. The area of a
// finding is its chain. What the nodes cannot be asked is a finding as well.
func (h Host) TryNodes(ctx context.Context, p Plan) []doctor.Finding {
	found, err := h.CheckNodes(ctx, p.Profile.Networks, p.credential())
	if err != nil {
		found = append(found, doctor.Finding{Area: p.Profile.Networks, Name: "nodes", Level: doctor.Bad,
			Text: present.Clean(err.Error(), maxProblem), Todo: present.Clean(cli.Hint(err), maxProblem)})
	}
	return found
}

// maxProblem bounds what of an error is shown, in characters.
const maxProblem = 400

// Chain is what was found on one chain: how many things are well, and everything that is not.
type Chain struct {
	Name   string
	There  int
	Faults []doctor.Finding
}

// Level is that of the worst finding.
func (c Chain) Level() doctor.Level {
	worst := doctor.Good
	for _, f := range c.Faults {
		if f.Level == doctor.Bad {
			return doctor.Bad
		}
		worst = f.Level
	}
	return worst
}

// Words say in a line what is there.
func (c Chain) Words() string {
	words := present.Plural(c.There, "thing is there", "things are there")
	switch n := len(c.Faults); {
	case n > 0 && c.There == 0:
		return ""
	case n > 0:
		words += ", " + strconv.Itoa(n) + " to read"
	}
	return words
}

// ByChain puts the findings of TryNodes in order: of each chain what is bad comes first.
func ByChain(found []doctor.Finding) (all []Chain) {
	for _, f := range found {
		if len(all) == 0 || all[len(all)-1].Name != f.Area {
			all = append(all, Chain{Name: f.Area})
		}
		if c := &all[len(all)-1]; f.Level == doctor.Good {
			c.There++
		} else {
			c.Faults = append(c.Faults, f)
		}
	}
	for _, c := range all {
		slices.SortStableFunc(c.Faults, func(a, b doctor.Finding) int {
			switch bad := doctor.Bad; {
			case a.Level == bad && b.Level != bad:
				return -1
			case a.Level != bad && b.Level == bad:
				return 1
			}
			return 0
		})
	}
	return all
}

// NodesIntro says where the file comes from.
var NodesIntro = []string{"coffer network init writes a file that names your nodes, and coffer network",
	"deploy puts the contracts there that are missing."}

// RealIntro says what a network of kind real is.
const RealIntro = "This network is REAL: what you sign moves real money."

// NodesRefused is why a set-up does not go on with nodes that lack something.
const NodesRefused = "the nodes do not have what this profile needs; nothing was set up"

// credential finds the keys that nodes ask for among those of the plan; nil where they ask for none.
func (p Plan) credential() networks.Credential {
	if len(p.NodeKeys) == 0 {
		return nil
	}
	return func(_ context.Context, name, host string) (string, error) {
		key, found := p.NodeKeys[networks.Need{Name: name, Host: host}]
		if !found {
			return "", fmt.Errorf("%s was changed meanwhile: %s needs the key %q now", p.Profile.Networks, host, name)
		}
		return string(key.Reveal()), nil
	}
}

// keepNodeKeys puts the keys of the nodes into a vault.
func (p Plan) keepNodeKeys(ctx context.Context, v *vault.Vault) error {
	for need, key := range p.NodeKeys {
		if err := v.SetNodeKey(ctx, need.Name, need.Host, secret.New(bytes.Clone(key.Reveal()))); err != nil {
			return err
		}
	}
	return nil
}

// Made is what a new profile has. Of one on own nodes Tank is the address that pays for gas, Tanks what it has, and
// Holds what the accounts have, in words; Unread says why one of them is not known.
type Made struct {
	Accounts []api.Account
	Tank     string
	Tanks    []doctor.Tank
	Holds    []string
	Unread   error
}

// Row is a line of what a new profile has. An address is for display in full.
type Row struct{ Label, Address, Text string }

// Rows say what a new profile on own nodes has, and where coins are to be sent; none of another profile.
func (m Made) Rows() (rows []Row) {
	if m.Tank == "" {
		return nil
	}
	rows = append(rows, Row{"gas tank", m.Tank, "pays for gas: send it coins on each chain that you use"})
	for _, t := range m.Tanks {
		rows = append(rows, Row{Text: t.Words()})
	}
	label := "balances"
	for _, line := range m.Holds {
		rows = append(rows, Row{Label: label, Text: line})
		label = ""
	}
	switch {
	case m.Unread != nil:
		rows = append(rows, Row{Label: "not read", Text: present.Clean(m.Unread.Error(), maxProblem)})
	case len(m.Holds) == 0 && len(m.Accounts) > 0:
		rows = append(rows, Row{Label: label, Text: "your account has nothing yet, as your nodes say"})
	}
	return rows
}

// look asks the service of a new profile on own nodes.
func (m *Made) look(ctx context.Context, p Plan, s Embedded) {
	m.Tank = s.Network.Pins.Operator.Hex()
	var err, errHolds error
	if s.Tanks != nil {
		m.Tanks, err = s.Tanks(ctx)
	}
	m.Holds, errHolds = holds(ctx, p.Profile, s)
	m.Unread = errors.Join(err, errHolds)
}

// holds are the balances of the accounts of a profile on own nodes, one line an asset and chain.
func holds(ctx context.Context, p config.Profile, s Embedded) (lines []string, err error) {
	o := Opened{Profile: p, Accounts: p.WireAccounts(s.Network.Pins)}
	if len(o.Accounts) == 0 {
		return nil, nil
	}
	file, err := networks.Load(p.Networks)
	if err != nil {
		return nil, err
	}
	if o.Catalog, err = file.Catalog(); err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{BaseURL: s.BaseURL, APIKey: s.APIKey, Transport: s.Transport})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	b, err := c.Balances(ctx, o.Query())
	if err != nil {
		return nil, err
	}
	return heldWords(o.Catalog, o.Accounts, b)
}

func heldWords(c *catalog.Catalog, accounts []api.Account, b api.AggregatedBalance) (lines []string, err error) {
	h, err := present.BalanceReader{Catalog: c, Symbols: verify.NewSymbols(c), Accounts: accounts}.Read(b)
	if err != nil {
		return nil, err
	}
	for _, a := range h.Assets {
		for _, part := range a.Parts {
			has := amount.Unknown
			switch {
			case part.Given.Amount == "0":
				continue
			case part.Amount != nil && part.Decimals >= 0:
				has = amount.Human(part.Amount, part.Decimals)
			}
			lines = append(lines, has+" "+part.Symbol+" on "+part.ChainName)
		}
	}
	return lines, nil
}
