package portfolio

// Symbol reads the answer to symbol().
var Symbol = symbol
