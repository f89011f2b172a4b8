package act

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/cli"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// What the person's own node closed is no open signature; it is listed with what was seen, until its time is over.
func TestActivitySaysWhichSignaturesOwnNodesClosed(t *testing.T) {
	r := newRig(t)
	someBook(r)
	const note = "seen by your node: its nonce is used in block 42, which is final"
	r.shut = []journal.Closed{{Signature: r.live[0].Signature, Op: r.live[0].Op, At: start(), Block: 42}}
	r.live = nil
	if code := r.run("activity"); code != 0 || !strings.Contains(r.out.String(), "0 outstanding signatures") ||
		!strings.Contains(r.out.String(), note) {
		t.Errorf("exit code %d: %s", code, r.out.String())
	}
	r.out.Reset()
	if code := r.run("activity", "--json"); code != 0 {
		t.Fatal(code)
	}
	var told struct {
		Open   []any
		Closed []struct{ OpHash, Closed, Ends string }
	}
	if err := json.Unmarshal(r.out.Bytes(), &told); err != nil || len(told.Open) != 0 || len(told.Closed) != 1 ||
		told.Closed[0].Ends != note || told.Closed[0].OpHash == "" || told.Closed[0].Closed == "" {
		t.Errorf("%v: %s", err, r.out.String())
	}
}

// Status and activity ask own nodes while something is open, and say who saw what.
func TestStatusAndActivityAskOwnNodes(t *testing.T) {
	for _, command := range []string{"activity", "status"} {
		r := newRig(t)
		someBook(r)
		r.live[0].Op = r.book[0].ID
		r.book[0].QuoteID = quoteID(5)
		r.service.statuses = []string{statusJSON(api.StatusCompleted)}
		r.sees = func() {
			r.shut = []journal.Closed{{Signature: r.live[0].Signature, Op: r.live[0].Op, At: start(), Block: 42}}
			r.live = nil
		}
		r.s.Follow = func(context.Context, journal.Operation, api.ExecutionStatus) []verify.Became {
			return []verify.Became{{Part: verify.PartDelivery, Outcome: verify.Filled, Block: 41,
				Chain: verify.ChainLabel{Name: "Base"}}}
		}
		args, want := []string{"activity"}, "seen by your node: its nonce is used in block 42, which is final"
		if command == "status" {
			args = []string{"status", r.book[0].QuoteID}
			want = "Its signatures can no longer be used (seen by your node)."
		}
		_ = r.run(args...)
		if got := strings.Join(strings.Fields(r.out.String()), " "); !strings.Contains(got, want) ||
			command == "status" && !strings.Contains(got, "seen by your node: filled on Base in block 41") {
			t.Errorf("%s: %s %s", command, got, r.err.String())
		}
	}
}

// While the service is silent, every command that would have asked it asks own nodes, and says what they see beside the
// silence. The silence stays the error of the command.
func TestWhileTheServiceIsSilentOwnNodesAreAsked(t *testing.T) {
	const sees = "seen by your node: filled on Base in block 41"
	filled := func(context.Context, journal.Operation, api.ExecutionStatus) []verify.Became {
		return []verify.Became{{Part: verify.PartDelivery, Outcome: verify.Filled, Block: 41,
			Chain: verify.ChainLabel{CAIP: "eip155:8453", Name: "Base"}}}
	}
	silence := &client.Error{Op: "status", Kind: client.KindNetwork, Err: errors.New("no route")}
	nodes := func(raw []byte, path ...string) string {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		for _, name := range path {
			if list, is := v.([]any); is {
				v = list[0]
			}
			v = v.(map[string]any)[name]
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	for _, c := range []struct {
		args []string
		code int
		path []string
	}{
		{args: []string{"status", quoteID(5)}, code: cli.ExitFailed},
		{args: []string{"status", quoteID(5), "--json"}, code: cli.ExitFailed, path: []string{"nodes"}},
		{args: []string{"activity"}}, {args: []string{"activity", "--json"}, path: []string{"unfinished", "nodes"}},
		{args: []string{"history"}, code: cli.ExitFailed},
	} {
		for _, named := range []bool{true, false} {
			r := newRig(t)
			someBook(r)
			r.book = r.book[1:]
			r.book[0].State, r.book[0].QuoteID = journal.Acked, quoteID(5)
			if r.service.err = silence; named {
				r.s.Follow = filled
			}
			code := r.run(c.args...)
			got := r.out.String()
			if c.path != nil {
				if named != strings.Contains(got, `"outcome":`) || named && nodes(r.out.Bytes(), c.path...) !=
					`[{"block":41,"chain":"eip155:8453","outcome":"filled","part":"delivery"}]` {
					t.Errorf("%v: %s", c.args, got)
				}
			} else if got += r.err.String(); named != strings.Contains(strings.Join(strings.Fields(got), " "), sees) {
				t.Errorf("%v, nodes are named %t: %s", c.args, named, got)
			}
			if code != c.code || c.code != 0 && !strings.Contains(r.out.String()+r.err.String(), "no route") {
				t.Errorf("%v: exit code %d, %s", c.args, code, r.err.String())
			}
		}
	}
}
