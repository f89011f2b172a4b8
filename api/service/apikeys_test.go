package service_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/access"
)

// withKey is a client with another API key.
func (c *client) withKey(value, method, path string) (int, []byte, map[string][]string) {
	c.t.Helper()
	return c.withKeyAndBody(value, method, path, "{}")
}

func (c *client) withKeyAndBody(value, method, path, body string) (int, []byte, map[string][]string) {
	c.t.Helper()
	r := request(c.t, c.t.Context(), method, "https://x/api"+path, body)
	r.Header.Set("x-api-key", value)
	r.Header.Set("Content-Type", "application/json")
	res, err := c.rt.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	var raw json.RawMessage
	if err := json.NewDecoder(res.Body).Decode(&raw); err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, raw, res.Header
}

func TestAMissingWrongOrExpiredKeyIs401WithTimeAndPath(t *testing.T) {
	s, now := late(t)
	c := newClient(t, s, api.AccountKernelV31, 9)
	expired, _, err := service.Keys(s).Add(access.KeySpec{Company: "c", Project: "p", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	*now = now.Add(2 * time.Hour)
	for _, k := range []string{"", "wrong", expired} {
		for _, e := range everyEndpoint(t) {
			status, raw, _ := c.withKey(k, e.Method, e.Path)
			var body api.Error
			if err := json.Unmarshal(raw, &body); err != nil || status != 401 || body.Name != api.ErrUnauthorized ||
				body.Path != "/api"+e.Path || body.Timestamp == "" {
				t.Errorf("%s: %d %s", e.Path, status, raw)
			}
		}
	}
}

func TestAKeyWithoutThePermissionIs403(t *testing.T) {
	s, _ := late(t)
	c := newClient(t, s, api.AccountKernelV31, 9)
	for _, permission := range []string{access.Read, access.Quote, access.Execute} {
		k, _, err := service.Keys(s).Add(access.KeySpec{Company: "c", Project: "p", Permissions: []string{permission}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range everyEndpoint(t) {
			status, raw, _ := c.withKey(k, e.Method, e.Path)
			if (status == 403) != (e.Permission != permission) {
				t.Errorf("permission %s on %s: %d %s", permission, e.Path, status, raw)
			}
		}
	}
}

func TestAKeyOverItsLimitIs429WithTheWindow(t *testing.T) {
	s, _ := late(t)
	c := newClient(t, s, api.AccountKernelV31, 9)
	k, _, err := service.Keys(s).Add(access.KeySpec{PublicTest: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range access.PublicPerMinute {
		status, raw, head := c.withKey(k, "GET", "/assets/list")
		if left := fmt.Sprint(access.PublicPerMinute - i - 1); status != 200 ||
			head["X-Ratelimit-Remaining"][0] != left || head["X-Ratelimit-Limit"][0] != "60" {
			t.Fatalf("request %d: %d %v %.100s", i, status, head, raw)
		}
	}
	status, raw, head := c.withKey(k, "GET", "/assets/list")
	var body api.Error
	if err := json.Unmarshal(raw, &body); err != nil || status != 429 || body.Name != api.ErrTooManyRequests ||
		head["Retry-After"][0] != "60" || head["X-Ratelimit-Remaining"][0] != "0" {
		t.Errorf("%d %s %v", status, raw, head)
	}
}
