//go:build unix

package flow_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/internal/golden"
)

// The faults of an execute request.
const (
	noFault       = ""
	answerLost    = "answer lost"     // accepted, and the connection breaks
	requestLost   = "request lost"    // the connection breaks before the service saw anything
	serverError   = "500"             // not accepted
	errorAccepted = "500 of accepted" // accepted, and an error all the same
	requestLate   = "request late"    // the connection breaks, and the request arrives long after that
)

// late is how long a late request takes; a quote lives longer.
const late = 20 * time.Second

// countingService is an honest service over loopback that counts. It answers from the golden world or from a recorded
// run, and keeps the clock of the test.
type countingService struct {
	t        testing.TB
	world    *golden.World
	recorded *recorded
	https    *httptest.Server
	control  *httptest.Server

	mu       sync.Mutex
	clock    time.Time
	fault    string
	quotes   int
	attempts map[string]int  // executes that were sent, by quote id, lost ones too
	accepted map[string]bool // quotes that will be carried out
	order    []string        // accepted, oldest first
	late     map[string]time.Time
	seen     map[string]bool // signatures that reached the service
}

func serveCounting(t testing.TB, r *recorded) *countingService {
	s := &countingService{t: t, recorded: r, clock: golden.Clock(), attempts: map[string]int{},
		accepted: map[string]bool{}, late: map[string]time.Time{}, seen: map[string]bool{}}
	s.world = golden.New(t)
	s.world.Freeze()
	s.https = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	s.https.EnableHTTP2 = false
	s.https.Config.ErrorLog = quiet()
	s.https.StartTLS()
	t.Cleanup(s.https.Close)
	s.control = httptest.NewServer(http.HandlerFunc(s.advance))
	t.Cleanup(s.control.Close)
	return s
}

// advance lets the clock go on and says what it shows.
func (s *countingService) advance(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms, _ := strconv.ParseInt(r.URL.Query().Get("ms"), 10, 64)
	s.clock = s.clock.Add(time.Duration(ms) * time.Millisecond)
	fmt.Fprint(w, s.clock.UnixMilli())
}

func (s *countingService) setFault(fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

var reSignature = regexp.MustCompile(`"(?:signature|r)":"([^"]{66,})"`)

func (s *countingService) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the child died while it sent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrive(s.clock)
	w.Header().Set("Date", s.clock.UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", "application/json")
	if !strings.HasSuffix(r.URL.Path, "execute-quote") || s.fault != requestLost {
		for _, m := range reSignature.FindAllSubmatch(body, -1) {
			s.seen[string(m[1])] = true
		}
	}
	switch strings.TrimPrefix(r.URL.Path, "/api") {
	case "/v3/quote/prepare-call-quote":
		s.write(w, s.prepare())
	case "/v3/quote/call-quote", "/v3/quote":
		s.write(w, s.quote())
	case "/v3/quote/execute-quote":
		s.execute(w, body)
	case "/v3/status/get-execution-status":
		id := r.URL.Query().Get("quoteId")
		status := api.ExecutionStatus{}
		if s.accepted[id] {
			status = api.ExecutionStatus{QuoteID: id, Status: api.StatusCompleted}
		}
		s.write(w, s.world.Document(status))
	case "/v3/status/get-tx-history":
		page := api.HistoryPage{Transactions: []api.HistoryRecord{}}
		for _, id := range s.order {
			page.Transactions = append(page.Transactions, api.HistoryRecord{QuoteID: id, Status: api.StatusCompleted})
		}
		s.write(w, s.world.Document(page))
	default:
		http.NotFound(w, r)
	}
}

func (s *countingService) write(w io.Writer, d *api.Document) {
	_, _ = w.Write(d.Raw()) // whoever asked may be dead
}

func (s *countingService) prepare() *api.Document {
	if s.recorded != nil {
		return s.recorded.prepared
	}
	s.world.Now, s.world.Sequence = s.clock, uint64(len(s.order))
	return s.world.Document(s.world.PrepareResponse())
}

// quote makes a quote with a new id whose payments follow the ones that were carried out.
func (s *countingService) quote() *api.Document {
	if s.recorded != nil {
		return s.recorded.quote
	}
	s.quotes++
	s.world.Now, s.world.Sequence, s.world.ID = s.clock, uint64(len(s.order)), fmt.Sprintf("0x%064x", s.quotes)
	n := uint64(len(s.order))
	return s.world.Document(s.world.QuoteResponse("225980000",
		map[string]string{golden.ArbUSDC: "300000", golden.OpUSDC: "180000"},
		golden.Payment{Asset: golden.ArbUSDC, Amount: 125_980_000, Sequence: 4 + n},
		golden.Payment{Asset: golden.OpUSDC, Amount: 100_000_000, Sequence: n, Deploy: n == 0}))
}

func (s *countingService) execute(w http.ResponseWriter, body []byte) {
	var q struct {
		ID      string `json:"id"`
		Expires string `json:"expirationTimestamp"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		s.t.Errorf("an execute that cannot be read: %v", err)
	}
	s.attempts[q.ID]++
	// a busy machine may handle a request long after its client gave up
	if at, err := strconv.ParseInt(q.Expires, 10, 64); err != nil || s.clock.Unix() > at {
		http.Error(w, `{"error":"QuoteExpired","message":"the quote has expired","statusCode":400}`,
			http.StatusBadRequest)
		return
	}
	if s.fault == requestLost {
		panic(http.ErrAbortHandler)
	}
	if s.fault == serverError {
		http.Error(w, `{"error":"Internal","message":"down","statusCode":500}`, http.StatusInternalServerError)
		return
	}
	if s.fault == requestLate {
		s.late[q.ID] = s.clock.Add(late)
		panic(http.ErrAbortHandler)
	}
	var percent int
	var accepted bool
	if n, _ := fmt.Sscanf(s.fault, "502 %t %d", &accepted, &percent); n == 2 {
		if accepted {
			s.accept(q.ID)
		}
		cutError(w, percent)
		return
	}
	s.accept(q.ID)
	switch s.fault {
	case answerLost:
		panic(http.ErrAbortHandler)
	case errorAccepted:
		http.Error(w, `{"error":"Internal","message":"down","statusCode":500}`, http.StatusInternalServerError)
	default:
		fmt.Fprint(w, `{"success":true,"guarantees":null,"error":null}`)
	}
}

func (s *countingService) accept(id string) {
	if !s.accepted[id] {
		s.order = append(s.order, id)
	}
	s.accepted[id] = true
}

// arrive takes in the late requests whose time has come.
func (s *countingService) arrive(now time.Time) {
	for id, at := range s.late {
		if !now.Before(at) {
			s.accept(id)
			delete(s.late, id)
		}
	}
}
