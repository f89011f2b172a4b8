package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service"
	"coffer/api/service/netstatus"
	"coffer/api/text"
)

// maxKnown bounds a line of what is known, in characters.
const maxKnown = 500

// Resume lets the lane of an operator's service that runs in dir go on, which stopped on a chain. confirm is shown what
// is known, and returns an error to change nothing. It returns the chain's name.
func Resume(ctx context.Context, dir, chain string, confirm func(known ...string) error) (string, error) {
	s, err := service.RunningStatus(ctx, dir)
	if errors.Is(err, service.ErrNotRunning) {
		return "", &OptionError{Problem: err.Error(), Hint: "start it: it sends nothing on that chain until you decide"}
	}
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(s.Chains, func(c netstatus.Chain) bool { return called(c, chain) })
	if i < 0 {
		return "", &OptionError{Problem: fmt.Sprintf("the network has no chain %q", chain),
			Hint: "coffer network status lists its chains"}
	}
	c := s.Chains[i]
	switch l := c.Lane; {
	case l == nil:
		return "", fmt.Errorf("what the service sends on %s is not known now: %s", c.Name, c.Problem)
	case l.Stopped == "":
		return "", &OptionError{Problem: "the service has not stopped on " + c.Name, Hint: l.Held}
	}
	known := lines(s, c)
	for i := range known {
		known[i] = text.Clean(known[i], maxKnown)
	}
	if err := confirm(known...); err != nil {
		return "", err
	}
	return c.Name, service.ResumeOperated(ctx, dir, service.Decision{Chain: c.ID, Stopped: c.Lane.Stopped})
}

// called reports whether a chain has a name: as it is shown, in short, or its number.
func called(c netstatus.Chain, name string) bool {
	names := []string{c.Name, strconv.FormatUint(c.ID, 10)}
	if cat, err := catalog.Load(); err == nil {
		info, _ := cat.Chain(caip.EVM(c.ID))
		names = append(names, info.Short)
	}
	return name != "" && slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) })
}

// lines are what is known of a lane that stopped.
func lines(s *netstatus.Status, c netstatus.Chain) []string {
	used, key := amount.Unknown, amount.Unknown
	if c.Lane.Used != nil {
		used = strconv.FormatUint(*c.Lane.Used, 10)
	}
	if s.Key != nil {
		key = s.Key.Hex()
	}
	out := []string{fmt.Sprintf("On %s the service sends nothing with its key %s: %s.", c.Name, key, c.Lane.Stopped),
		fmt.Sprintf("the chain has %s transactions of the key, the service sent %d", used, c.Lane.Sent)}
	for _, id := range c.Lane.Open {
		out = append(out, "under way: "+id)
	}
	return out
}
