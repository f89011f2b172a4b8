// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// The least that a fill delivers of one token to one recipient.
struct Minimum {
    bytes32 token; // an EVM address is padded with zeros on the left; zero = the native coin
    bytes32 to;
    uint256 amount; // base units
}

/// What a fill must do before a deposit is released. The same terms stand in every deposit of a quote.
struct Terms {
    uint256 targetChain; // EIP-155 id; 0 = Solana
    uint64 fillDeadline; // Unix seconds, the last second in which the fill is valid
    Minimum[] minimums; // strictly ascending by (token, to)
    bytes32[] operations; // ERC-4337 hashes of the operations that the fill runs, in order
}

/// What an escrow stores of a deposit's terms and what Filler.Filled reports: the same number for the same promise to the
/// same depositor. Without the depositor one fill would release the deposits of two who were promised the same.
function hashTerms(address filler, bytes32 quoteId, address depositor, Terms calldata terms) pure returns (bytes32) {
    return keccak256(abi.encode(filler, quoteId, depositor, terms));
}
