package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// bookkeeping is what the database keeps in memory for each page that was written since it was opened and is still in
// use: a page number and a transaction number in a map, with the map's own share. It follows the file, not time, so
// growth is judged without it.
const (
	bookkeeping = 24
	pageSize    = 4096
)

// judged is from which length on a soak is judged by its growth: in a shorter one a few requests under way weigh more
// than a leak.
const judged = 5 * time.Minute

// mayGrow is by how many percent the heap may grow between the second and the last tenth of a soak; samples is how
// often it is looked at.
const (
	mayGrow = 10
	samples = 100
)

// growthOf says what a soak did.
type growthOf struct {
	failed  int
	percent float64
}

// soak runs the mixed work and watches the heap.
func soak(ctx context.Context, o options, t *target, c *crew, out io.Writer) (growthOf, error) {
	if o.duration <= 0 {
		return growthOf{}, nil
	}
	done := make(chan *result, 1)
	go func() { done <- c.run(ctx, mixed(), o.duration) }()
	tick := time.NewTicker(o.duration / samples)
	defer tick.Stop()
	var heap, file []uint64
	for {
		select {
		case <-tick.C:
			v, err := t.heap(ctx)
			if err != nil {
				return growthOf{}, errors.Join(fmt.Errorf("read the heap: %w", err), ctx.Err())
			}
			heap = append(heap, v)
			info, err := os.Stat(t.database)
			if err != nil {
				return growthOf{}, err
			}
			file = append(file, uint64(info.Size()))
		case r := <-done:
			r.print(out, "soak")
			g := growthOf{failed: r.failures()}
			if len(heap) < samples/2 {
				return g, fmt.Errorf("only %d samples of the heap were taken", len(heap))
			}
			tenth := len(heap) / 10
			early, late := middle(heap[tenth:2*tenth]), middle(heap[len(heap)-tenth:])
			pages := (middle(file[len(file)-tenth:]) - middle(file[tenth:2*tenth])) / pageSize
			g.percent = ((late-pages*bookkeeping)/early - 1) * 100
			fmt.Fprintf(out, "  memory: %s\n", t.how)
			fmt.Fprintf(out, "  second tenth %.1f MB, last tenth %.1f MB, %+.1f %% without the database's %.1f MB "+
				"for %.0f new pages; between %.1f and %.1f MB, slope %+.2f MB a minute\n",
				early/(1<<20), late/(1<<20), g.percent, pages*bookkeeping/(1<<20), pages,
				float64(slices.Min(heap))/(1<<20), float64(slices.Max(heap))/(1<<20),
				slope(heap)/(1<<20)*float64(time.Minute)/float64(o.duration/samples))
			return g, nil
		}
	}
}

// middle is the median: what one large answer holds at the moment of a sample does not count.
func middle(v []uint64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return float64(sorted[len(sorted)/2])
}

// slope is the growth per sample of the straight line that fits best. The places of the samples are counted from the
// middle one, so that their mean is zero and that of the values does not matter.
func slope(v []uint64) float64 {
	half := float64(len(v)-1) / 2
	up, across := 0.0, 0.0
	for i, y := range v {
		x := float64(i) - half
		up += x * float64(y)
		across += x * x
	}
	return up / across
}
