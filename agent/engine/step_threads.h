// Where steps run: threads apart from the loop's, at most limits::kStepThreads with stacks of
// limits::kStepStackBytes, idle ones used again. Behind an interface, so that a simulation can run
// one step at a time. Owned by the engine or by whoever simulates; start() is called from any
// thread.
#pragma once

#include <functional>
#include <memory>

namespace leasehold {

class StepThreads {
 public:
  virtual ~StepThreads() = default;
  // Runs the task on some thread; it waits for one if all are busy. There is at most one task per
  // open run, so what waits is bounded by the nodes of the site.
  virtual void start(std::function<void()> task) = 0;
  // Returns when nothing runs and nothing waits.
  virtual void drain() = 0;
};

class StepThreadPool : public StepThreads {
 public:
  StepThreadPool();
  ~StepThreadPool() override;  // drains
  void start(std::function<void()> task) override;
  void drain() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
