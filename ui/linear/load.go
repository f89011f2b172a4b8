package linear

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// load reads an intent, a batch of the Safe Transaction Builder or a list of payouts from a file.
func (s *session) load(ctx context.Context) error {
	for {
		path, err := s.ask(ctx, question{text: "Which file? Type its path:"})
		if err != nil {
			return err
		}
		p, err := s.loadPlan(ctx, path)
		switch {
		case err == nil:
			s.refresh(ctx)
			return s.planned(ctx, p, nil)
		case errors.Is(err, errBack):
			continue
		}
		s.out.say("It was not loaded.")
		list := present.Failures(err)
		for _, f := range list {
			s.out.note(sentence(clean(f.String(), 400)))
		}
		faults := compose.PayoutFaults(nil)
		errors.As(err, &faults)
		for _, f := range faults {
			s.out.note(capital(sentence(clean(f.String(), 400))))
		}
		if len(list)+len(faults) == 0 {
			s.out.note(why(err))
		}
	}
}

// loadPlan reads the file as a plan.
func (s *session) loadPlan(ctx context.Context, path string) (*plan, error) {
	b, err := compose.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		return s.payouts(ctx, b)
	}
	doc, err := compose.ReadDocument(b)
	if err != nil {
		return nil, err
	}
	p := &plan{d: doc.Draft, follows: doc.Safe}
	p.d.SlippageBps = cmp.Or(p.d.SlippageBps, intent.DefaultSlippageBps)
	if doc.Safe {
		p.minutes = compose.DefaultMinutes
	}
	return p, nil
}

// payouts reads a list of payouts as a plan, and asks which asset its rows pay where they do not say.
func (s *session) payouts(ctx context.Context, list []byte) (*plan, error) {
	form, err := s.ReadPayouts(list, caip.Chain{}, "")
	faults := compose.PayoutFaults(nil)
	if errors.As(err, &faults) && faults.LackAsset() {
		var asset string
		asset, err = s.ask(ctx, question{text: "Which asset do they pay, and where? Type it, such as usdc@base:"})
		if err != nil {
			return nil, err
		}
		form, err = s.ReadPayouts(list, caip.Chain{}, asset)
	}
	if err != nil {
		return nil, err
	}
	return &plan{d: form.Draft(&s.World), follows: true, minutes: compose.DefaultMinutes}, nil
}
