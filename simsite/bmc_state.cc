#include "simsite/bmc_state.h"

namespace leasehold::simsite {

const Account* BmcState::find_account(std::string_view user_name) const {
  for (const Account& account : accounts) {
    if (!user_name.empty() && account.user_name == user_name) return &account;
  }
  return nullptr;
}

Account* BmcState::account_by_id(std::string_view id) {
  for (Account& account : accounts) {
    if (account.id == id) return &account;
  }
  return nullptr;
}

bool is_effect(const Change& change) {
  if (const auto* deletion = std::get_if<DeleteSession>(&change)) return !deletion->own;
  return std::holds_alternative<SetAccount>(change) ||
         std::holds_alternative<CreateAccount>(change) ||
         std::holds_alternative<DeleteAccount>(change) || std::holds_alternative<SetBoot>(change) ||
         std::holds_alternative<Reset>(change);
}

std::string describe(const Change& change) {
  if (const auto* account = std::get_if<SetAccount>(&change)) {
    return account->password.empty() ? "account " + account->account_id
                                     : "password of account " + account->account_id;
  }
  if (const auto* made = std::get_if<CreateAccount>(&change)) {
    return "account " + made->account.id + " created";
  }
  if (const auto* gone = std::get_if<DeleteAccount>(&change)) {
    return "account " + gone->account_id + " deleted";
  }
  if (const auto* boot = std::get_if<SetBoot>(&change)) {
    return "boot override " + boot->boot.target + " " + boot->boot.enabled;
  }
  if (const auto* reset = std::get_if<Reset>(&change)) return "reset " + reset->type;
  if (std::holds_alternative<CreateSession>(change)) return "session created";
  if (std::holds_alternative<DeleteSession>(change)) return "session deleted";
  return "nothing";
}

}  // namespace leasehold::simsite
