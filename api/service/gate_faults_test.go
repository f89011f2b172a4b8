package service_test

import (
	"testing"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/settle"
	"coffer/api/service/store/storetest"
)

// What `coffer serve --fault` is given reaches quotes and settlements, and a client sees its outcome over HTTP.
func TestFaultsReachQuotesAndSettlement(t *testing.T) {
	for spec, want := range map[string]struct{ status, reason string }{
		"no-capacity":   {api.StatusRefunded, "SOLVER_CAPACITY_EXCEEDED"},
		"revert":        {api.StatusRefunded, "EXECUTION_REVERTED"},
		"deposit-fails": {api.StatusFailed, "TRANSACTION_REVERTED"},
		"expire":        {api.StatusRefunded, "ORDER_EXPIRED"},
		"slow-fill=1ms": {api.StatusCompleted, ""},
		"revert@2":      {api.StatusCompleted, ""}, // the second quote, not this one
	} {
		t.Run(spec, func(t *testing.T) {
			s, w := faulty(t, spec)
			signed, id, _ := w.quote(300_000_000)
			w.post(executePath, signed.Raw(), 200)
			if err := s.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := w.status(id)
			if got.Status != want.status || got.FailReason != want.reason {
				t.Errorf("%s %q, expected %s %q", got.Status, got.FailReason, want.status, want.reason)
			}
		})
	}
	t.Run("no-route", func(t *testing.T) {
		_, w := faulty(t, "no-route")
		status, raw := w.answer(preparePath, w.transferBody(300_000_000, nil))
		checkBody(t, status, raw, 400, api.ErrNoRoute, "")
	})
}

func faulty(t *testing.T, spec string) (*service.Service, *wallet) {
	t.Helper()
	faults, err := settle.ParseFaults([]string{spec})
	if err != nil {
		t.Fatal(err)
	}
	o := options(storetest.New(t))
	o.Faults = faults
	s := open(t, o)
	return s, newWallet(t, s)
}
