// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

interface IERC20 {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A till takes USDC for an order and says so.
contract Till {
    IERC20 public immutable usdc;
    mapping(uint256 order => uint256) public paid;

    event Paid(uint256 indexed order, address indexed payer, uint256 amount);

    constructor(IERC20 token) {
        usdc = token;
    }

    function pay(uint256 order, uint256 amount) external {
        require(usdc.transferFrom(msg.sender, address(this), amount), "not paid");
        paid[order] += amount;
        emit Paid(order, msg.sender, amount);
    }
}
