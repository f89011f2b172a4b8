package faultproxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"coffer/api/rpcpool/faultproxy"
)

// A seed repeats the faults of a script.
func TestASeedRepeats(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":1,"result":1}`)
	})
	run := func(seed uint64) (out string) {
		p := faultproxy.New(echo, seed, faultproxy.Rule{Chance: .4, Fault: faultproxy.Status(503, "", "")})
		defer p.Close()
		for range 40 {
			r, err := http.Post(p.URL, "", strings.NewReader(`{"id":1,"method":"m"}`))
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Body.Close()
			out += r.Status[:1]
		}
		if p.Calls("m") != 40 || p.Calls("") != 40 {
			t.Errorf("%d calls in %d requests", p.Calls("m"), p.Calls(""))
		}
		return out
	}
	one := run(1)
	if run(1) != one || run(2) == one || !strings.Contains(one, "5") || !strings.Contains(one, "2") {
		t.Error(one)
	}
}

func TestRulesApplyFromSkipForTimes(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":1,"result":{"a":[{"b":1}]}}`)
	})
	p := faultproxy.New(echo, 1, faultproxy.Rule{On: "m", Skip: 1, Times: 1, Fault: faultproxy.Lie("a.0.b", "lie")})
	defer p.Close()
	for i, call := range []struct{ method, want string }{
		{"m", `"b":1`}, {"n", `"b":1`}, {"m", `"b":"lie"`}, {"m", `"b":1`},
	} {
		r, err := http.Post(p.URL, "", strings.NewReader(`{"id":1,"method":"`+call.method+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if !strings.Contains(string(raw), call.want) {
			t.Errorf("request %d: %s", i, raw)
		}
	}
}
