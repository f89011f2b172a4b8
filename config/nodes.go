package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"coffer/api/networks"
)

// Node is a node that a profile names for the wallet's own view: a chain by number, name or short name, and the address
// where it answers, without credentials in the clear.
type Node struct{ Chain, URL string }

// ParseNode reads CHAIN=URL. The error repeats nothing of the address.
func ParseNode(s string) (Node, error) {
	chain, url, ok := strings.Cut(s, "=")
	if chain = strings.TrimSpace(chain); !ok || chain == "" {
		return Node{}, errors.New(`expected a chain and the address of a node, such as "base=https://node.example"`)
	}
	if err := networks.CheckEndpoint(url); err != nil {
		return Node{}, fmt.Errorf("%s of %s: %w", networks.Host(url), chain, err)
	}
	return Node{chain, url}, nil
}

func (n Node) String() string { return n.Chain + "=" + n.URL }

// OwnView are the nodes that a profile names for the wallet's own view. Those of a profile on own nodes are in its
// networks.toml.
func (p Profile) OwnView() (all []Node) {
	for _, s := range p.Nodes {
		n, _ := ParseNode(s) // read with the file
		all = append(all, n)
	}
	return all
}

func (p Profile) checkNodes(say func(key, problem string)) {
	if len(p.Nodes) > 0 && p.OwnNodes() {
		say("nodes", "a profile on own nodes names them in its networks.toml")
		return
	}
	seen := map[string]bool{}
	for _, s := range p.Nodes {
		if _, err := ParseNode(s); err != nil {
			say("nodes", err.Error())
		} else if seen[s] {
			say("nodes", "a node is named twice")
		}
		seen[s] = true
	}
}

// SetNodes writes the nodes that a profile of the file names, in place of those before.
func SetNodes(path, profile string, nodes []Node) error {
	data, err := readToEdit(path)
	if err != nil {
		return err
	}
	want, err := Parse(path, data)
	if err != nil {
		return err
	}
	table := "profiles." + profile
	p, ok := want.Profiles[profile]
	if _, _, there := (wish{table: table}).find(strings.Split(string(data), "\n")); !ok || !there {
		return &Error{Path: path, Key: table, Problem: "there is no such profile in the file; add it first"}
	}
	p.Nodes = nil
	for _, n := range nodes {
		p.Nodes = append(p.Nodes, n.String())
	}
	want.Profiles[profile] = p
	if len(nodes) == 0 {
		return writeSame(path, []byte(withoutKey(string(data), table, "nodes")), want)
	}
	text, err := toml.Marshal(map[string][]string{"nodes": p.Nodes})
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	line := string(bytes.TrimSpace(text))
	k, err := readKey(line)
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	data = rewrite(data, []wish{{table: table, keys: []wishedKey{k}}})
	if _, err := Parse(path, data); err != nil {
		return err
	}
	return writeSame(path, data, want)
}
