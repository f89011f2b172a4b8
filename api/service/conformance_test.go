package service_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/openapi"
)

// Tests that prove fields in general.
const (
	servedTest  = "TestEveryFieldOfEveryAnswerIsServed"
	checkedTest = "TestEveryMemberOfEveryRequestIsChecked"
)

// endpointTests names the test that goes through each endpoint as a client does, by the id of the description.
func endpointTests() map[string]string {
	return map[string]string{
		"predictAddress":         "TestAnswersHaveTheShapeOfThePublishedOnes",
		"listAssets":             "TestAnswersHaveTheShapeOfThePublishedOnes",
		"listChains":             "TestAnswersHaveTheShapeOfThePublishedOnes",
		"getAggregatedBalanceV2": "TestBalancesV2TakesOneAddress",
		"getAggregatedBalance":   "TestOpenAnswersThroughTheFullHTTPLayer",
		"getQuoteV1":             "TestV1SwapsAndTransfers",
		"getQuote":               "TestSwapsAndTransfersWithSolanaInBothDirections",
		"prepareCallQuoteV1":     "TestAV1CallWithoutATypeIsFundedAcrossChains",
		"prepareCallQuote":       "TestSolanaPaysForCallsBesideEachEVMAccount",
		"getCallQuoteV1":         "TestAV1CallWithoutATypeIsFundedAcrossChains",
		"getCallQuote":           "TestSolanaPaysForCallsBesideEachEVMAccount",
		"executeQuoteV1":         "TestEveryEVMAccountKindMakesCallsInBothVersions",
		"executeQuote":           "TestEveryEVMAccountKindMakesCallsInBothVersions",
		"getExecutionStatusV1":   "TestV1RecordsCarryTheChainIDOfEVMTransactionsOnly",
		"getExecutionStatus":     "TestAnUnknownQuoteIDIsAnEmptyObject",
		"getTxHistoryV1":         "TestAnswersHaveTheShapeOfThePublishedOnes",
		"getTxHistory":           "TestHistoryParametersHaveTheDocumentedDefaultsAndBounds",
		"getCode":                "TestTheCodeAtAnAddressIsNoneAContractOrADelegation",
		"undelegate":             "TestAnEOADelegatesUndelegatesAndDelegatesAgain",
		"getRoles":               "TestTheAdminRotatesTheSessionKeyThroughTheInterface",
		"relay":                  "TestTheAdminRotatesTheSessionKeyThroughTheInterface",
		"getHealth":              "TestHealthNeedsNeitherKeyNorBasePath",
		"getDescription":         "TestTheDescriptionIsServedWithoutAKeyAndHasWhatIsServed",
	}
}

// errorTests names the test that brings about each error name.
func errorTests() map[string]string {
	return map[string]string{
		api.ErrValidation:          "TestEveryFailureIsListedAsPathExpectedGot",
		api.ErrTamperProof:         "TestAnAlteredTamperProofSignatureIsRefused",
		api.ErrInvalidSignature:    "TestAWrongSignerIsRefused",
		api.ErrQuoteExpired:        "TestAnExpiredQuoteIsRefused",
		api.ErrPrepareAgain:        "TestAnUnknownContextIsPrepareAgain",
		api.ErrInsufficientBalance: "TestTooLittleBalanceIsInsufficientBalance",
		api.ErrNoRoute:             "TestNoWayToFundIsNoRoute",
		api.ErrDelegation:          "TestADelegationToAnotherContractIsDELEGATION001",
		api.ErrUnauthorized:        "TestAMissingWrongOrExpiredKeyIs401WithTimeAndPath",
		api.ErrForbidden:           "TestAKeyWithoutThePermissionIs403",
		api.ErrNotFound:            "TestAnUnknownPathIsNotFound",
		api.ErrAlreadyExecuted:     "TestASecondExecuteIsQuoteAlreadyExecuted",
		api.ErrMediaType:           "TestAnotherContentTypeIsUnsupportedMediaType",
		api.ErrSimulationFailed:    "TestARevertingCallIsSimulationFailed",
		api.ErrTooManyRequests:     "TestAKeyOverItsLimitIs429WithTheWindow",
		api.ErrInternal:            "TestAPanicOrAnInternalErrorShowsNoDetail",
		api.ErrUnavailable:         "TestR4_AClockThatGoesBackIsSaid",
	}
}

// rule is a row of the tables Limits and Errors, or a rule of a resource, with the endpoints that keep it and its test.
type rule struct{ rule, endpoints, test string }

func ruleTests() []rule {
	const (
		prepare = "prepareCallQuote, prepareCallQuoteV1"
		called  = "getCallQuote, getCallQuoteV1"
		execute = "executeQuote, executeQuoteV1"
		quote   = "getQuote, getQuoteV1"
		all     = "all"
	)
	return []rule{
		{"a hex string without 0x", prepare, "TestHexWithout0xIsRefused"},
		{"EIP7702 with another account type", prepare + ", " + quote, "TestEIP7702WithAnotherAccountTypeIsRefused"},
		{"approve passed as a call", prepare, "TestApprovePassedAsACallIsRefused"},
		{"increaseAllowance passed as a call", prepare, "TestIncreaseAllowancePassedAsACallIsRefused"},
		{"permit passed as a call", prepare, "TestPermitPassedAsACallIsRefused"},
		{"setApprovalForAll passed as a call", prepare, "TestSetApprovalForAllPassedAsACallIsRefused"},
		{"another form of approval passed as a call", prepare, "TestOtherFormsOfApprovalPassedAsACallAreRefused"},
		{"an approval in a multicall", prepare, "TestAnApprovalInsideAMulticallIsNoCall"},
		{"an approval in the account's own execute", prepare, "TestAnApprovalInsideTheAccountsOwnExecuteIsRefused"},
		{"keys that no account can have", "predictAddress", "TestNoAddressIsPredictedForKeysThatNoAccountCanHave"},
		{"an ob: id in tokensRequired", prepare, "TestAnAggregateInTokensRequiredIsRefused"},
		{"an unlisted token in tokensRequired: without effect with amount 0, else refused", prepare,
			"TestS2_NothingOfAnUnlistedTokenIsRequiredWithoutEffect"},
		{"bad CAIP", prepare + ", " + quote + ", getAggregatedBalance", "TestBadCAIPIsRefused"},
		{"zero accounts", "every v3 body; no account in every v1 body", "TestZeroAccountsAreRefused"},
		{"eleven accounts", "every v3 body", "TestElevenAccountsAreRefused"},
		{"two EVM account types", "every v3 body", "TestTwoEVMAccountTypesAreRefused"},
		{"one account type twice", "getQuote", "TestAnAccountTypeTwiceIsRefused"},
		{"an override of nothing, code beyond 24576 bytes, overrides beyond 131072 bytes", prepare,
			"TestOverridesOfNothingOrBeyondTheirBoundsAreRefused"},
		{"slippageTolerance 0, fractions, more than 10000", prepare + ", " + called + ", " + quote,
			"TestSlippageZeroIsRefused"},
		{"calls empty", prepare, "TestEmptyCallsAreRefused"},
		{"an unknown chain", prepare + ", " + quote, "TestAnUnknownChainIsRefused"},
		{"Solana as target chain", "prepareCallQuote", "TestSolanaIsNoTargetChain"},
		{"Solana in v1", "prepareCallQuoteV1, getQuoteV1", "TestSolanaInV1IsRefused"},
		{"a single Solana account in prepare", "prepareCallQuote", "TestASingleSolanaAccountInPrepareIsRefused"},
		{"neither aggregatedAssetId nor assetId", "getAggregatedBalance",
			"TestNeitherAggregatedAssetIDNorAssetIDIsRefused"},
		{"limit below 1, unknown sortBy", "getTxHistory, getTxHistoryV1", "TestAHistoryLimitBelowOneIsRefused"},
		{"limit 20 when absent, 100 at most", "getTxHistory",
			"TestHistoryParametersHaveTheDocumentedDefaultsAndBounds"},
		{"continuation absent at the end, expired or of another user 400", "getTxHistory, getTxHistoryV1",
			"TestAContinuationLeadsToTheEndAndExpires"},
		{"decimals of a source balance 0 to 18", prepare, servedTest},
		{"an expired quote", execute, "TestAnExpiredQuoteIsRefused"},
		{"an altered tamper-proof signature", called + ", " + execute, "TestAnAlteredTamperProofSignatureIsRefused"},
		{"an altered document", called + ", " + execute, "TestAnAlteredDocumentIsRefused"},
		{"a document written again with its members in another order passes", called + ", " + execute,
			"TestAClientThatWritesDocumentsAnewPasses"},
		{"a change hidden by writing it again", execute, "TestAClientThatChangesWhileWritingAnewIsRefused"},
		{"a required member missing from a quote", execute, "TestEveryRequiredMemberOfAnExecuteBodyIsDemanded"},
		{"a member of a quote that breaks its pattern, enumeration or bounds", execute,
			"TestEveryFormOfAnExecuteBodyIsChecked"},
		{"a quote without an optional member is altered, not ill-formed", execute,
			"TestGenuineQuotesPassAndOptionalMembersAreNoMatterOfForm"},
		{"a wrong signer", called + ", " + execute, "TestAWrongSignerIsRefused"},
		{"a wrong Solana signer", "executeQuote", "TestAWrongSolanaSignerIsRefused"},
		{"the admin's key on an operation", "getCallQuote", "TestTheAdminCannotSignOperations"},
		{"an unsigned operation", called + ", " + execute, "TestAnUnsignedOperationIsRefused"},
		{"an unsigned delegation", called, "TestAnUnsignedDelegationIsRefused"},
		{"a quote of the other version", execute, "TestAV1QuoteIsExecutedAtV1AndAV3QuoteAtV3"},
		{"every 400 lists all failures as path, expected, got", all, "TestEveryFailureIsListedAsPathExpectedGot"},
		{"401 for a missing, wrong or expired key, with timestamp and path", all,
			"TestAMissingWrongOrExpiredKeyIs401WithTimeAndPath"},
		{"X-Request-Id on the 401 to plain HTTP, too", all, "TestPlainHTTPIsAnsweredWithARequestID"},
		{"403 for a key without the permission", all, "TestAKeyWithoutThePermissionIs403"},
		{"a key that only reads makes the service write nothing", "every GET",
			"TestK11_AReadOnlyKeyNeverMakesTheServiceWrite"},
		{"--private: a quote of another project is unknown",
			"getExecutionStatus, getExecutionStatusV1, getTxHistory, getTxHistoryV1, " + execute,
			"TestK13_APrivateServiceShowsAProjectItsOwn"},
		{"--private: a prepared operation of another project is unknown", called,
			"TestK13_APreparedOperationIsQuotedByItsProject"},
		{"--private: explorer pages ask for a key", "/explorer", "TestK13_TheExplorerOfAPrivateServiceAsksForAKey"},
		{"429 with x-ratelimit-* and Retry-After; 60 a minute for a public test key", all,
			"TestAKeyOverItsLimitIs429WithTheWindow"},
		{"x-ratelimit-* on every answer to a known key", all, "TestRateLimitHeadersAreOnEveryAnswerToAKnownKey"},
		{"415 for another content type", "every POST", "TestAnotherContentTypeIsUnsupportedMediaType"},
		{"bodies of JSON within 4 MiB, 32 levels, no name twice", "every POST", "TestBodiesMustBeJSONWithinTheLimits"},
		{"an unknown quote id is 200 {}", "getExecutionStatus, getExecutionStatusV1",
			"TestAnUnknownQuoteIDIsAnEmptyObject"},
		{"lists are bare arrays", "listAssets, listChains", "TestListsAreBareArrays"},
		{"a refund gives everything back and has a failReason", execute, "TestARefundGivesEverythingBack"},
		{"a quote of which nothing landed is FAILED", execute, "TestAQuoteOfWhichNothingLandedIsFailed"},
		{"each answer of each test keeps the description, and has no member that it does not know", all,
			"TestAnswersThatAreNotDescribedAreFound"},
		{"HEAD is GET without a body", "every GET", "TestHEADIsAnsweredLikeGETWithoutABody"},
		{"the description also without the base path", "getDescription", "TestTheDescriptionNeedsNoBasePath"},
		{"ETag, and 304 for who has the description", "getDescription", "TestAnUnchangedDescriptionIsNotSentAgain"},
		{"coins on explorer pages in whole units", "/explorer", "TestExplorerShowsCoinsInWholeUnits"},
		{"deposits on explorer pages in whole units, with date and names", "/explorer",
			"TestExplorerShowsDepositsInWholeUnitsWithDateAndNames"},
		{"tokens and EIP-7702 authorizations named on explorer pages", "/explorer",
			"TestExplorerNamesTokensAndShowsAuthorizations"},
		{"explorer page of an EVM transaction", "/explorer", "TestExplorerShowsTheDecodedReceiptWithoutAKey"},
		{"explorer page of a Solana transaction", "/explorer", "TestExplorerShowsADecodedSolanaTransaction"},
		{"nothing foreign unescaped on a page", "/explorer", "TestExplorerEscapesAHostileMemo"},
	}
}

// testNames are the tests of the interface's packages.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, dir := range []string{".", "httpapi", "..", filepath.Join("..", "openapi")} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
					names[f.Name.Name] = true
				}
			}
		}
	}
	return names
}

// Every endpoint, error name and rule has a test of that name.
func TestEveryEndpointErrorAndRuleHasATest(t *testing.T) {
	names := testNames(t)
	must := func(what, test string) {
		t.Helper()
		if !strings.HasPrefix(test, "Test") || !names[test] {
			t.Errorf("%s: there is no test %q", what, test)
		}
	}
	ids := map[string]bool{}
	for _, e := range openapi.Endpoints() {
		ids[e.ID] = true
		must(e.ID, endpointTests()[e.ID])
	}
	for _, name := range api.ErrorNames() {
		must(name, errorTests()[name])
	}
	for _, r := range ruleTests() {
		must(r.rule, r.test)
	}
	for id := range endpointTests() {
		if !ids[id] {
			t.Errorf("%s is in the table and not in the interface", id)
		}
	}
	if len(errorTests()) != len(api.ErrorNames()) {
		t.Errorf("%d errors have a test, %d exist", len(errorTests()), len(api.ErrorNames()))
	}
	must("fields of answers", servedTest)
	must("members of requests", checkedTest)
}

// conformance writes the tables of docs/interface.md.
func conformance(t *testing.T) string {
	t.Helper()
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	line := func(cells ...string) {
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("### Endpoints\n\n")
	line("id", "endpoint", "success", "errors", "test")
	line("---", "---", "---", "---", "---")
	for _, e := range openapi.Endpoints() {
		var codes []string
		for _, s := range e.Errors {
			codes = append(codes, fmt.Sprint(s))
		}
		line(e.ID, fmt.Sprintf("`%s %s`", e.Method, e.Path), fmt.Sprint(e.Status), strings.Join(codes, " "),
			endpointTests()[e.ID])
	}
	b.WriteString("\n### Error names\n\n")
	line("error", "status", "test")
	line("---", "---", "---")
	for _, name := range api.ErrorNames() {
		line("`"+name+"`", fmt.Sprint(api.NewError(name, "").StatusCode), errorTests()[name])
	}
	b.WriteString("\n### Rules\n\n")
	line("rule", "endpoints", "test")
	line("---", "---", "---")
	for _, r := range ruleTests() {
		line(strings.ReplaceAll(r.rule, "|", `\|`), r.endpoints, r.test)
	}
	b.WriteString("\n### Fields\n\nAnswers are proven by `" + servedTest + "`, bodies by `" + checkedTest + "`.\n\n")
	line("field", "rule", "in bodies of", "in answers of")
	line("---", "---", "---", "---")
	answers, bodies := map[string][]string{}, map[string][]string{}
	for _, e := range openapi.Endpoints() {
		for _, name := range slices.Sorted(maps.Keys(d.fields(d.answerOf(e)))) {
			answers[name] = append(answers[name], e.ID)
		}
		for _, name := range slices.Sorted(maps.Keys(d.fields(d.bodyOf(e)))) {
			bodies[name] = append(bodies[name], e.ID)
		}
	}
	for _, name := range d.everyField() {
		if in := answers[name]; in == nil && bodies[name] == nil {
			t.Errorf("%s is described and belongs to no endpoint", name)
		}
		line("`"+name+"`", d.ruleOf(name), strings.Join(bodies[name], ", "), strings.Join(answers[name], ", "))
	}
	return b.String()
}

const (
	tableBegins = "<!-- conformance: written by go test ./api/service -run TestTheConformanceTable -update -->\n"
	tableEnds   = "<!-- end of conformance -->\n"
)

// The table in docs/interface.md is that of the code: a new endpoint, field, error or rule shows there.
func TestTheConformanceTableIsThatOfTheDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "interface.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", path)
	}
	want := before + tableBegins + "\n" + conformance(t) + "\n" + tableEnds + after
	if want == string(raw) {
		return
	}
	if !*update {
		t.Fatalf("%s is not up to date: look at what has changed, then run this test with -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
