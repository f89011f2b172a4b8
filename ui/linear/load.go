package linear

import (
	"cmp"
	"context"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// load reads an intent, or a batch of the Safe Transaction Builder, from a file.
func (s *session) load(ctx context.Context) error {
	for {
		path, err := s.ask(ctx, question{text: "Which file? Type its path:"})
		if err != nil {
			return err
		}
		p, err := loadPlan(path)
		if err == nil {
			s.refresh(ctx)
			return s.planned(ctx, p, nil)
		}
		s.out.say("It was not loaded.")
		list := present.Failures(err)
		for _, f := range list {
			s.out.note(sentence(clean(f.String(), 400)))
		}
		if len(list) == 0 {
			s.out.note(why(err))
		}
	}
}

// loadPlan reads the file as a plan.
func loadPlan(path string) (*plan, error) {
	b, err := compose.ReadFile(path)
	if err != nil {
		return nil, err
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
