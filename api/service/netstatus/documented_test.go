package netstatus

import (
	"math/big"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// section is what docs/operate.md says of an operator's network.
func section(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(raw), "## An operator's network\n")
	if !found {
		t.Fatal("docs/operate.md has no section on an operator's network")
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return text
}

// The table of alerts has every code, once, and no other.
func TestEveryAlertIsInTheTable(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| .+ \\| .+ \\|$").FindAllStringSubmatch(section(t),
		-1) {
		got = append(got, m[1])
	}
	want := Codes()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the page has\n%v\nthe program\n%v", got, want)
	}
}

// The table of series has every one that the metrics give, and no other.
func TestEverySeriesIsInTheTable(t *testing.T) {
	var got, want []string
	for line := range strings.Lines(section(t)) {
		if !strings.HasPrefix(line, "| `coffer_") {
			continue
		}
		for _, m := range regexp.MustCompile("`(coffer_[a-z_]+)[`{]").FindAllStringSubmatch(line, -1) {
			got = append(got, m[1])
		}
	}
	for _, f := range judgedStatus(t).Series() {
		want = append(want, f.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the page has\n%v\nthe metrics\n%v", got, want)
	}
}

// judgedStatus is a status with every kind of figure.
func judgedStatus(t *testing.T) *Status {
	t.Helper()
	s := busy()
	s.Judge()
	return s
}

// TestEveryFigureIsASeries: a figure that is added to the status needs one too.
func TestEveryFigureIsASeries(t *testing.T) {
	series := map[string]string{
		"At": "network_read_timestamp_seconds", "Chains.Block": "block", "Chains.Quorum.Need": "quorum_need",
		"Chains.Quorum.Agrees": "quorum", "Chains.Endpoints.Disagreed": "endpoints_outvoted",
		"Chains.Gas.Has": "gas_coins", "Chains.Gas.Operations": "gas_operations", "Chains.Hot": "hot_key_known",
		"Chains.Paused": "filler_paused", "Chains.Lane.Sent": "lane_sent", "Chains.Lane.Used": "lane_used",
		"Chains.Inventory.Has": "inventory", "Chains.Inventory.Left": "cap_left",
		"Chains.Inventory.Capacity": "cap_capacity", "Chains.Inventory.Refill": "cap_refill",
		"Chains.Inventory.Promised": "inventory_promised", "Chains.Inventory.Delivered": "inventory_delivered",
		"Chains.Inventory.Deposited": "inventory_deposited", "Deposits.Held.Amount": "escrowed",
		"Deposits.Held.Deadline": "deposit_seconds_left", "Deposits.Held.Delivered": "deposits_delivered",
		"Exposure.Used": "exposure_usd", "Exposure.Cap": "exposure_cap_usd", "Sponsored.Sum": "sponsored_usd",
		"Sponsored.Most": "sponsored_most_usd", "Sponsored.Accounts": "sponsored_accounts",
		"Sponsored.Cap": "sponsored_cap_usd", "Prices.Micro": "price_usd",
		"Attesters.Threshold": "attesters_needed", "Attesters.Members.Answers": "attester_answers",
	}
	labels := []string{"Chains.ID", "Chains.Inventory.Decimals", "Deposits.Held.Chain", "Deposits.Held.Decimals",
		"Chains.Lane.Alerted", "Alerts.Chain", "Attesters.Members.Here", "Attesters.Members.Answered"}
	given := map[string]bool{}
	for _, f := range judgedStatus(t).Series() {
		given[strings.TrimPrefix(f.Name, "coffer_")] = true
	}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		figure := of == reflect.TypeFor[big.Int]() || of == reflect.TypeFor[time.Time]() || of.Kind() == reflect.Bool ||
			of.Kind() >= reflect.Int && of.Kind() <= reflect.Float64
		switch {
		case figure && slices.Contains(labels, path):
		case figure && !given[series[path]]:
			t.Errorf("%s has no series (%q)", path, series[path])
		case !figure && of.Kind() == reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); f.IsExported() {
					walk(strings.TrimPrefix(path+"."+f.Name, "."), f.Type)
				}
			}
		}
	}
	walk("", reflect.TypeFor[Status]())
}
