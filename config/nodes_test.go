package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The nodes of a profile are written and removed without touching the rest of the file.
func TestNodesOfAProfileAreSetInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := AddProfile(path, team(), true); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	nodes := []Node{{"base", "https://node.example/v2/${vault:main}"}, {"10", "http://127.0.0.1:8545/10"}}
	if err := SetNodes(path, "team", nodes); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if got := f.Profiles["team"].OwnView(); err != nil || len(got) != 2 || got[0] != nodes[0] || got[1] != nodes[1] {
		t.Fatalf("%v, %v", got, err)
	}
	if err := SetNodes(path, "team", nodes[1:]); err != nil {
		t.Fatal(err)
	}
	if f, err = Load(path); err != nil || len(f.Profiles["team"].Nodes) != 1 {
		t.Errorf("%v, %v", f.Profiles["team"].Nodes, err)
	}
	if err := SetNodes(path, "team", nil); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("%v\n%s\nwant\n%s", err, after, before)
	}
	if err := SetNodes(path, "demo", nodes); err == nil {
		t.Error("a profile that is not in the file got nodes")
	}
}

// A node is a chain with the address that networks.toml would take; a fault repeats no credential.
func TestAFaultyNodeOfAProfileIsRefused(t *testing.T) {
	for node, want := range map[string]string{
		"https://node.example":      "expected a chain",
		"=https://node.example":     "expected a chain",
		"base=http://10.0.0.1:8545": "http is for this machine only",
		"base=https://node.example/v2/AbCdEf0123456789-_AbCdEf01234567": "looks like a key",
		"base=ws://127.0.0.1:8545":                                      "expected https",
	} {
		p := team()
		p.Nodes = []string{node}
		key, problem := wrong(p)
		if key != "nodes" || !strings.Contains(problem, want) || strings.Contains(problem, "AbCdEf") {
			t.Errorf("%s: %s: %s", node, key, problem)
		}
	}
	p := team()
	if p.Nodes = []string{"base=https://a.example", "base=https://a.example"}; true {
		if _, problem := wrong(p); !strings.Contains(problem, "twice") {
			t.Error(problem)
		}
	}
	own := team()
	own.BaseURL, own.Networks, own.Nodes = "", "/n/networks.toml", []string{"base=https://a.example"}
	if key, _ := wrong(own); key != "nodes" {
		t.Errorf("own nodes: %s", key)
	}
}
