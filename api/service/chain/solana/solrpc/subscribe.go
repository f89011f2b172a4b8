package solrpc

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/jsonrpc"
)

// subscribe begins a subscription with notifications of a name.
func subscribe(ctx context.Context, name string, run func(context.Context, func(any) error) error) (any, error) {
	s, err := jsonrpc.SubscriberOf(ctx)
	if err != nil {
		return nil, err
	}
	return s.Subscribe(jsonrpc.Subscription{Method: name + "Notification", Numeric: true,
		Run: func(ctx context.Context, push func(any) error) { _ = run(ctx, push) }}) // an error ends it
}

func unsubscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	s, err := jsonrpc.SubscriberOf(ctx)
	if err != nil {
		return nil, err
	}
	if !s.Unsubscribe(at(p, 0)) {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Invalid subscription id.")
	}
	return true, nil
}

// signatureSubscribe tells what became of a transaction, once. Who asks for it is told before that it was received,
// which is the same moment here.
func (n *node) signatureSubscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	var name string
	if err := p.Read(0, &name); err != nil {
		return nil, err
	}
	if _, err := parseSignature(name); err != nil {
		return nil, err
	}
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, "signature", func(ctx context.Context, push func(any) error) error {
		for {
			changed := n.ledger.Changed()
			r, found, err := n.ledger.Receipt(ctx, name)
			if err != nil {
				return err
			}
			if found {
				at := place{r.Slot, n.Version}
				if c.EnableReceivedNotification {
					if err := push(answer{at, "receivedSignature"}); err != nil {
						return err
					}
				}
				return push(answer{at, map[string]any{"err": failure(r)}})
			}
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				n.ledger.YieldToWriter()
			}
		}
	})
}

// slotTime is how long a slot is.
const slotTime = 400 * time.Millisecond

// slotSubscribe reports every slot that the clock reaches. The clock has seconds, so that slots are passed over.
func (n *node) slotSubscribe(ctx context.Context, _ jsonrpc.Params) (any, error) {
	return subscribe(ctx, "slot", func(ctx context.Context, push func(any) error) error {
		tick := time.NewTicker(slotTime)
		defer tick.Stop()
		for last := uint64(0); ; {
			changed := n.ledger.Changed()
			if slot := n.slot(); slot > last {
				last = slot
				if err := push(map[string]uint64{"parent": slot - 1, "root": slot, "slot": slot}); err != nil {
					return err
				}
			}
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			case <-tick.C:
			}
		}
	})
}

// accountSubscribe reports an account after commits that changed it.
func (n *node) accountSubscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	look := func(ctx context.Context) (v any, same string, err error) {
		err = n.read(ctx, func(st ledger.State) error {
			a, err := st.Account(k)
			if err != nil {
				return err
			}
			out, err := encode(st, k, a, c.Encoding, c.DataSlice)
			if out == nil {
				out = &accountJSON{Owner: solmsg.SystemProgram().String(), Data: []string{"", asBase64}}
			}
			v = out
			return err
		})
		if err != nil {
			return nil, "", err
		}
		raw, err := json.Marshal(v)
		return v, string(raw), err
	}
	changed := n.ledger.Changed()
	_, last, err := look(ctx)
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, "account", func(ctx context.Context, push func(any) error) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				n.ledger.YieldToWriter()
			}
			changed = n.ledger.Changed()
			v, now, err := look(ctx)
			if err != nil {
				return err
			}
			if now == last {
				continue
			}
			last = now
			if err := push(n.answer(v)); err != nil {
				return err
			}
		}
	})
}

// logsSubscribe reports the log of every transaction, or of those that name one account.
func (n *node) logsSubscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	var which struct{ Mentions []string }
	var word string
	var only *solmsg.Key
	switch {
	case json.Unmarshal(at(p, 0), &word) == nil && (word == "all" || word == "allWithVotes"):
	case json.Unmarshal(at(p, 0), &which) == nil && len(which.Mentions) == 1:
		k, err := parseKey(which.Mentions[0])
		if err != nil {
			return nil, err
		}
		only = &k
	default:
		return nil, invalid("\"all\", \"allWithVotes\" or {\"mentions\": [one address]} is needed")
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	_, next, err := n.ledger.Since(-1)
	if err != nil {
		return nil, err
	}
	return subscribe(ctx, "logs", func(ctx context.Context, push func(any) error) error {
		for {
			changed := n.ledger.Changed()
			var all []ledger.Receipt
			var err error
			if all, next, err = n.ledger.Since(next); err != nil {
				return err
			}
			for _, r := range all {
				if m, err := solmsg.Parse(r.Message); err != nil || only != nil && !slices.Contains(m.Keys, *only) {
					continue
				}
				err := push(answer{place{r.Slot, n.Version}, map[string]any{"signature": r.Signature, "err": failure(r),
					"logs": r.Logs}})
				if err != nil {
					return err
				}
			}
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				n.ledger.YieldToWriter()
			}
		}
	})
}
