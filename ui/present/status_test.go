package present

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/network"
)

// Only the service vouches for an end, and away from the embedded network every sentence says so (K3).
func TestK3_AStatusIsToldAsTheServicesWord(t *testing.T) {
	for _, status := range []string{
		api.StatusPending, api.StatusInProgress, api.StatusExecuted,
		api.StatusCompleted, api.StatusRefunded, api.StatusFailed,
	} {
		for _, kind := range []network.Kind{network.Embedded, network.Lab, network.Real, ""} {
			got := Status(kind, status)
			if said := strings.HasPrefix(got, "The service says: "); said != (kind != network.Embedded) {
				t.Errorf("%s on %q: %s", status, kind, got)
			}
		}
	}
}
