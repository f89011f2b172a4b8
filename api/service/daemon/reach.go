package daemon

import (
	"fmt"
	"io"
	"strings"

	"coffer/api"
	"coffer/api/service"
)

// Roles of a process.
const (
	serving    = "serving"
	forwarding = "forwarding"
)

// reach is how the service is reached. APIKey is the key of this process, "" when there are stored ones; MetricsURL is
// "" without metrics. Role is set where several processes may have one database. One that forwards says to whom, where
// that is known, and where the endpoints of the chains are found, below RPC.
type reach struct {
	Role        string   `json:"role,omitzero"`
	BaseURL     string   `json:"baseUrl"`
	CAFile      string   `json:"caFile"`
	APIKey      string   `json:"apiKey,omitzero"`
	NetworkFile string   `json:"networkFile,omitzero"`
	ForwardsTo  string   `json:"forwardsTo,omitzero"`
	RPC         string   `json:"rpc,omitzero"`
	MetricsURL  string   `json:"metricsUrl,omitzero"`
	Faults      []string `json:"faults,omitempty"`
	SSH         any      `json:"ssh,omitzero"`

	Endpoints []service.Node `json:"endpoints,omitempty"`

	lines []string // of what runs beside the service, for people
}

// endpointLines tell people where the endpoints of chains are.
func endpointLines(n *service.Nodes) (lines []string) {
	for i, e := range n.List {
		label := "         "
		if i == 0 {
			label = "rpc      "
		}
		lines = append(lines, label+e.HTTP+"  "+e.Name)
	}
	for _, note := range n.Notes {
		lines = append(lines, "         "+note)
	}
	return lines
}

// announce tells it in one line of JSON, or in lines for people with the fingerprint of the network.
func (r reach) announce(out io.Writer, asJSON bool, fingerprint string) error {
	if asJSON {
		line, err := api.Encode(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", line.Raw())
		return err
	}
	if r.Role == forwarding {
		return r.announceForwarding(out)
	}
	lines := []string{"serving  " + r.BaseURL, "ca file  " + r.CAFile, "network  " + r.NetworkFile,
		"         " + fingerprint}
	if r.APIKey != "" {
		lines = append(lines, "api key  "+r.APIKey+
			" (good while this process runs; `coffer serve keys add` makes lasting ones)")
	} else {
		lines = append(lines, "api key  the stored ones (`coffer serve keys list`; `coffer serve keys add` makes one)")
	}
	if r.MetricsURL != "" {
		lines = append(lines, "metrics  "+r.MetricsURL)
	}
	lines = append(lines, r.lines...)
	if len(r.Faults) > 0 {
		lines = append(lines, "FAULTS   ON: this service fails on purpose: "+strings.Join(r.Faults, ", "))
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// announceForwarding tells people of a process that waits.
func (r reach) announceForwarding(out io.Writer) error {
	to := r.ForwardsTo
	if to == "" {
		to = "no process yet: none that serves has given its address"
	}
	lines := []string{"waiting  " + r.BaseURL, "         forwards to " + to, "ca file  " + r.CAFile}
	if r.RPC != "" {
		lines = append(lines, "rpc      "+r.RPC+"  (the paths are those of the process that serves)")
	}
	if r.MetricsURL != "" {
		lines = append(lines, "metrics  "+r.MetricsURL)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
